import torch
from capsule_network import CapsuleNetwork

torch.manual_seed(0)
model = CapsuleNetwork(
    image_width=28, image_height=28, image_channels=1, conv_inputs=1, conv_outputs=256, num_primary_units=8,
    primary_unit_size=1152, num_output_units=10, output_unit_size=4,
).cuda()  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    images = torch.rand(2, 1, 28, 28).cuda()
    targets = torch.eye(10)[[step, step + 1]].cuda()
    loss = model.loss(images, model(images), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
