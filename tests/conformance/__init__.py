"""What PyTorch does with tensors on different devices: one table of probes, recordings of it, and the comparison.

=============  ======================================================================================================
``cases``      calls written by hand
``probes``     the table: those calls, and each operator of PyTorch's database with its tensors moved in turn
``record``     runs the table on a GPU and writes a recording; this folder and torch are all it needs
``compare``    runs the table on the simulated device and compares it with a recording
``words``      what PyTorch says, where its releases say it differently
``standin``    a CUDA runtime without a device, under which a CUDA build of PyTorch makes its checks without a GPU
=============  ======================================================================================================
"""
