"""A palette that is learned: a buffer of a shader as the parameter of a module of PyTorch."""

import torch

import adumbra
import adumbra.torch

SOURCE = """
buffer<float3> palette;

shader glaze(float bands = 3.0, out color c)
{
    float at = fract(bands * global_value<uv>.y) * (palette.length() - 1);
    int i = min((int)at, palette.length() - 2);
    c = mix(palette[i], palette[i + 1], at - i);
}
"""


class Glaze(torch.nn.Module):
    """Bands of a palette, seen in a blurred image."""

    def __init__(self, colors: int) -> None:
        super().__init__()
        self.shade = adumbra.torch.function(adumbra.compile(SOURCE))
        self.palette = torch.nn.Parameter(torch.full((colors, 3), 0.5))

    def forward(self, uv: torch.Tensor) -> torch.Tensor:
        """The image at these places, (height, width, 3)."""
        image = self.shade(palette=self.palette, uv=uv).permute(2, 0, 1)
        blurred = torch.nn.functional.avg_pool2d(image, 3, stride=1)
        return blurred.permute(1, 2, 0)


uv = torch.from_numpy(adumbra.pixels(48)["uv"].value)
wanted = Glaze(6)
with torch.no_grad():
    wanted.palette.copy_(torch.rand((6, 3), generator=torch.Generator().manual_seed(1)))
    target = wanted(uv)

learned = Glaze(6)
optimizer = torch.optim.Adam(learned.parameters(), lr=0.05)
for step in range(300):
    optimizer.zero_grad()
    loss = (learned(uv) - target).square().mean()
    loss.backward()
    optimizer.step()
away = (learned.palette - wanted.palette).abs().max().item()
print(f"loss {loss.item():.2e}, palette within {away:.3f}")
assert loss.item() < 1e-5
