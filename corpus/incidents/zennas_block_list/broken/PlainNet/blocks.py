import torch.nn as nn


class SuperConv(nn.Module):
    def __init__(self, in_channels, out_channels, stride):
        super(SuperConv, self).__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, stride=stride, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(out_channels)
        self.out_channels = out_channels
        self.shortcut = in_channels == out_channels and stride == 1

    def forward(self, x):
        output = self.bn(self.conv(x)).relu()
        return output + x if self.shortcut else output

    def __str__(self):
        return 'SuperConv({})'.format(self.out_channels)


_all_netblocks_dict_ = {'SuperConv': SuperConv}


def create_netblock_list_from_str(s):
    the_block_list = []
    while s:
        name, _, rest = s.partition('(')
        params, _, s = rest.partition(')')
        the_block_list.append(_all_netblocks_dict_[name](*[int(x) for x in params.split(',')]))
    return the_block_list
