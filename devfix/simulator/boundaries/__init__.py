"""What leaves the interpreter: compiled code, other processes, other libraries.

In: calls of a script.  Out: the same behavior with simulated devices, or an entry in the unsupported features.  May
import the simulator and torch; the folder travels to the script's own interpreter.
"""
