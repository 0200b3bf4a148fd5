checkpoint_path = './ckpt'
vocoder_pretrained_model_name = 'vocgan_kss_pretrained.pt'
n_symbols = 20
hidden = 12
n_mel_channels = 8
hop_length = 4
seed = 14
