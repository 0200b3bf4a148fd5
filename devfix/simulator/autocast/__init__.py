"""Mixed precision on simulated devices.

In: regions of ``torch.autocast``.  Out: casts by the accelerator's lists of operators.  May import the simulator and
torch; the folder travels to the script's own interpreter.
"""
