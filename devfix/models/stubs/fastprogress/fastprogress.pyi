"""Progress bars."""

from fastprogress import progress_bar as progress_bar
