"""Run one training script and write down what it did.  Needs torch and the standard library, nothing else.

This folder travels to the script's own interpreter, where devfix need not be installed::

    python probe --report run.json --device sim --simulator DIR -- train.py --epochs 1
    python probe --serve           # requests on stdin, answers on stdout: runs fork from a process that has torch

There it is a package named ``devfix_probe``, so that none of its names are in a script's way.  The report is a JSON
object; its keys are the fields of ``devfix.verify.Run``.
"""
