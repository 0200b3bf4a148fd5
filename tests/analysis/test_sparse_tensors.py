"""Sparse tensors: no finding in right programs, one in each broken one."""

from __future__ import annotations

import pytest
from device_programs import Program, check_broken, check_right

RIGHT = [
    Program(
        "coo-moved",
        """
indices = torch.tensor([[0, 1], [1, 0]])
adjacency = torch.sparse_coo_tensor(indices, torch.ones(2), (2, 2)).cuda()
x = torch.ones(2, 3, device="cuda")
out = torch.sparse.mm(adjacency, x) + adjacency @ x
out.sum().item()
""",
    ),
    Program(
        "coo-device-argument",
        """
adjacency = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), device="cuda")
x = torch.ones(2, 2, device="cuda")
dense = adjacency.to_dense() * x
degree = torch.sparse.sum(adjacency, dim=1).to_dense()
degree + x
""",
    ),
    Program(
        "coo-parts",
        """
adjacency = torch.eye(3).to_sparse().to("cuda")
weights = torch.ones(3, device="cuda")
scaled = torch.sparse_coo_tensor(adjacency.indices(), adjacency.values() * weights, adjacency.shape)
scaled @ torch.ones(3, 1, device="cuda")
""",
    ),
    Program(
        "coo-attention",
        """
scores = torch.eye(3, device="cuda").to_sparse()
attention = torch.sparse.softmax(scores, dim=1)
torch.sparse.mm(attention, torch.ones(3, 2, device="cuda")).relu()
""",
    ),
    Program(
        "csr-moved",
        """
matrix = torch.eye(3).to_sparse_csr().to("cuda")
matrix @ torch.ones(3, 2, device="cuda")
values = matrix.values() * torch.ones(3, device="cuda")
rows = matrix.crow_indices() + torch.ones(4, dtype=torch.int64, device="cuda")
""",
    ),
    Program(
        "csr-from-parts",
        """
crow = torch.tensor([0, 1, 2])
col = torch.tensor([0, 1])
matrix = torch.sparse_csr_tensor(crow, col, torch.ones(2), size=(2, 2), device="cuda")
matrix.to_dense() + torch.ones(2, 2, device="cuda")
""",
    ),
    Program(
        "sparse-mask",
        """
x = torch.ones(2, 2, device="cuda")
mask = torch.eye(2, device="cuda").to_sparse().coalesce()
x.sparse_mask(mask).to_dense() + x
""",
    ),
    Program(
        "sparse-embedding",
        """
embed = nn.Embedding(5, 3, sparse=True).cuda()
optimizer = torch.optim.SparseAdam(embed.parameters(), lr=0.1)
embed(torch.tensor([1, 2], device="cuda")).sum().backward()
norm = embed.weight.grad.coalesce().values() + torch.ones(3, device="cuda")
optimizer.step()
""",
    ),
    Program(
        "legacy-sparse",
        """
i = torch.tensor([[0, 1], [1, 0]])
adj = torch.sparse.FloatTensor(i, torch.ones(2), torch.Size([2, 2]))
adj = adj.cuda()
torch.spmm(adj, torch.ones(2, 3, device="cuda"))
adj._values() + adj._indices()[0] + torch.ones(2, device="cuda")
adj.t() @ torch.ones(2, 3, device="cuda")
adj.coalesce().indices()[0] + torch.ones(2, device="cuda")
""",
    ),
    Program(
        "layout",
        """
z = torch.zeros(3, 3, layout=torch.sparse_coo, device="cuda")
z + torch.eye(3, device="cuda").to_sparse()
torch.sparse.addmm(torch.ones(3, 3, device="cuda"), z, torch.ones(3, 3, device="cuda"))
torch.zeros_like(z).to_dense() + torch.ones(3, device="cuda")
z.shape, z.is_sparse, z.layout, z.sparse_dim(), z._nnz()
""",
    ),
    Program(
        "sparse-scalars",
        """
adj = torch.eye(3).to_sparse()
n = adj._nnz() / adj.size(0)
x = torch.ones(3, device="cuda") * n * adj.sparse_dim() * torch.tensor(2.0)
adj = adj * 2
adj = adj.cuda() * torch.tensor(2.0)
torch.sparse.sum(adj) * x
torch.sparse.sum(torch.eye(3).to_sparse()) * x
""",
    ),
    Program(
        "bsr",
        """
m = torch.ones(4, 4).to_sparse_bsr((2, 2)).to("cuda")
m.to_dense() + torch.ones(4, 4, device="cuda")
c = torch.ones(4, 4).to_sparse_csc().to("cuda")
c.ccol_indices() + torch.ones(5, device="cuda")
c.row_indices() + torch.ones(16, device="cuda")
""",
    ),
]

BROKEN = [
    Program(
        "coo-times-dense",
        """
adjacency = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
torch.sparse.mm(adjacency, torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "coo-operator",
        """
adjacency = torch.eye(2).to_sparse()
adjacency @ torch.ones(2, 3, device="cuda")
""",
    ),
    Program(
        "coo-to-dense",
        """
adjacency = torch.eye(2).to_sparse()
x = torch.ones(2, 2, device="cuda")
x * adjacency.to_dense()
""",
    ),
    Program(
        "coo-values",
        """
adjacency = torch.eye(2).to_sparse().coalesce()
adjacency.values() * torch.ones(2, device="cuda")
""",
    ),
    Program(
        "coo-indices",
        """
edges = torch.tensor([[0, 1], [1, 0]], device="cuda")
torch.sparse_coo_tensor(edges, torch.ones(2), (2, 2))
""",
    ),
    Program(
        "legacy-constructor",
        """
adj = torch.sparse.FloatTensor(torch.tensor([[0, 1], [1, 0]]), torch.ones(2), torch.Size([2, 2]))
torch.spmm(adj, torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "csr-times-dense",
        """
matrix = torch.eye(3).to_sparse_csr()
matrix @ torch.ones(3, 2, device="cuda")
""",
    ),
    Program(
        "csr-from-parts",
        """
crow, col = torch.tensor([0, 1, 2]), torch.tensor([0, 1])
matrix = torch.sparse_csr_tensor(crow, col, torch.ones(2), (2, 2))
torch.addmm(torch.zeros(2, 2, device="cuda"), matrix, torch.ones(2, 2, device="cuda"))
""",
    ),
    Program(
        "sparse-attribute",
        """
class Graph(nn.Module):
    def __init__(self, adjacency):
        super().__init__()
        self.adjacency = adjacency
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return torch.sparse.mm(self.adjacency, self.linear(x))


model = Graph(torch.eye(2).to_sparse()).cuda()
model(torch.ones(2, 3, device="cuda"))
""",
    ),
    Program(
        "sparse-host",
        """
adjacency = torch.eye(2, device="cuda").to_sparse()
adjacency.to_dense().numpy()
""",
    ),
    Program(
        "sparse-sum",
        """
degree = torch.sparse.sum(torch.eye(2).to_sparse(), dim=1).to_dense()
degree * torch.ones(2, device="cuda")
""",
    ),
]


@pytest.mark.parametrize("program", RIGHT, ids=str)
def test_a_right_program_runs_and_nothing_is_reported(program):
    check_right(program)


@pytest.mark.parametrize("program", BROKEN, ids=str)
def test_a_broken_program_fails_on_its_last_line_and_is_reported(program):
    check_broken(program)
