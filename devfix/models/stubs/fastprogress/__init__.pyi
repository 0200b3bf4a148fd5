"""Progress bars."""

# https://github.com/AnswerDotAI/fastprogress
def progress_bar(gen, *args, **kwargs) -> Same[gen]: ...
