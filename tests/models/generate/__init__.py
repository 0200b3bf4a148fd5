"""The generator of ``devfix/models/aten.json``: what PyTorch's functions and tensor methods do with devices.

Names and parameters come from PyTorch's stubs, schemas and Python signatures.  Roles of operands and kinds of results
are probed: calls are recorded from PyTorch's operator database, and run on the simulator with each operand in turn on
the other device.

===================  ==================================================================================================
``names``            public functions and methods
``stubs``            overloads from PyTorch's stub files
``schemas``          overloads from ATen's schemas
``python_functions`` overloads from Python signatures
``drafts``           an overload in the making, and a call's arguments by parameter
``overloads``        the overloads of every name
``samples``          calls, recorded while the operator database runs
``own_calls``        calls of functions that the database does not have
``synthetic``        shorter forms of calls, and calls made up for overloads without any
``probing``          the calls on the simulator, with operands elsewhere
``declared``         what PyTorch's operator table says about operands that no call shows
``roles``            from evidence to the words of the table
``facts``            all of it for each overload
``aliases``          other names of the same function
``versions``         versions in which a name exists
``table``            the file
``recorded``         the table beside what CUDA builds answered
===================  ==================================================================================================

``nox -s models`` writes the file; ``corrections.json`` has what probes cannot find, with a source each.
"""
