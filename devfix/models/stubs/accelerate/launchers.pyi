"""Another name of the launcher."""

from accelerate import notebook_launcher as notebook_launcher
