"""Implementation of interatomic potentials."""
from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.autograd import grad


class AtomRef(nn.Module):
    """Energies of single atoms."""

    def __init__(self, property_offset: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("property_offset", torch.tensor(property_offset, dtype=torch.float32))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.property_offset[z].sum(-1)


class Potential(nn.Module):
    """A class representing an interatomic potential."""

    def __init__(
        self,
        model: nn.Module,
        data_mean: torch.Tensor | None = None,
        data_std: torch.Tensor | None = None,
        element_refs: np.ndarray | None = None,
        calc_forces: bool = True,
    ):
        """Initialize Potential from a model and elemental references.

        Args:
            model: Model for predicting energies.
            data_mean: Mean of target.
            data_std: Std dev of target.
            element_refs: Element reference values for each element.
            calc_forces: Enable force calculations.
        """
        super().__init__()
        self.model = model
        self.calc_forces = calc_forces
        self.element_refs: AtomRef | None
        if element_refs is not None:
            self.element_refs = AtomRef(property_offset=element_refs)
        else:
            self.element_refs = None
        # for normalization
        if data_mean is None:
            data_mean = torch.zeros(1)
        if data_std is None:
            data_std = torch.ones(1)

        self.register_buffer("data_mean", data_mean)
        self.register_buffer("data_std", data_std)

    def forward(self, z: torch.Tensor, pos: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Args:
            z: atomic numbers, (batch, atoms)
            pos: positions, (batch, atoms, 3)

        Returns:
            energies, forces
        """
        forces = torch.zeros(1)
        if self.calc_forces:
            pos.requires_grad_(True)
        total_energies = self.data_std * self.model(z, pos) + self.data_mean
        if self.element_refs is not None:
            total_energies = total_energies + self.element_refs(z)
        if self.calc_forces:
            forces = -grad(total_energies.sum(), pos, create_graph=True)[0]
        return total_energies, forces
