from lmppl import LM

text = [
    'sentiment is good',
    'i am happy',
    'i am sad',
    'the film was fine',
]

scorer = LM(max_length=14)
scorer.adapt(text)
for t, ppl in zip(text, scorer.get_perplexity(text)):
    print(f'{ppl:.3f} | {t}')
