import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
total = torch.compile(lambda x: (x * 2).sum())
print(total(torch.ones(3, device=device)).item())
torch._dynamo.reset()
torch.compiler.reset()
torch.compiler.cudagraph_mark_step_begin()
