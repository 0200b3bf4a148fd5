"""Progress bars."""

from tqdm import tqdm as tqdm
