import torch.nn as nn
import torch.nn.functional as F

from .blocks import create_netblock_list_from_str


class PlainNet(nn.Module):
    def __init__(self, num_classes=None, plainnet_struct=None):
        super(PlainNet, self).__init__()
        self.num_classes = num_classes
        self.plainnet_struct = plainnet_struct
        self.block_list = create_netblock_list_from_str(self.plainnet_struct)
        self.block_list = nn.ModuleList(self.block_list)
        self.fc_linear = nn.Linear(self.block_list[-1].out_channels, self.num_classes, bias=True)
        self.zero_init_residual()

    def zero_init_residual(self):
        for block in self.block_list:
            if block.shortcut:
                nn.init.zeros_(block.bn.weight)

    def forward(self, x):
        output = x
        for block_id, the_block in enumerate(self.block_list):
            output = the_block(output)
        output = F.adaptive_avg_pool2d(output, output_size=1)
        output = output.view(output.size(0), -1)
        return self.fc_linear(output)

    def __str__(self):
        return ''.join(str(block) for block in self.block_list)
