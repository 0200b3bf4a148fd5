"""The parts of ``torch.cuda`` and ``torch.nn.parallel`` that the simulator replaces.

In: calls of a script.  Out: simulated devices, streams, events and parallel modules.  May import the simulator and
torch; the folder travels to the script's own interpreter.
"""
