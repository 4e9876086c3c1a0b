"""Exports the networks of this folder with PyTorch, and their results.

Writes NAME.onnx for each network, and reference.json and reference.bin for all
of them. reference.json has the name, type and shape of the inputs and outputs of
each network. reference.bin has their numbers, little-endian, in the same order:
the inputs of the network and PyTorch's outputs. Weights and inputs are drawn from
fixed seeds.

    python3 export.py

Made with torch 1.13.0.
"""

import json
import math
import os

import torch
import torch.nn.functional as F
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = 3


class Plain(nn.Module):
    """Convolutions without batch norm; uint8 planes."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(9, 16, 3, padding=1)
        self.b = nn.Conv2d(16, 20, 3, padding=1, bias=False)
        self.policy = nn.Linear(20 * 8 * 6, 23)
        self.value = nn.Linear(20 * 8 * 6, 1)

    def forward(self, planes):
        x = F.relu(self.a(planes.float() / 255))
        x = torch.flatten(F.relu(self.b(x)), 1)
        return self.policy(x), torch.tanh(self.value(x))


class Block(nn.Module):
    def __init__(self, c, squeeze=0):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c, 3, padding=1, bias=False), nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.na, self.nb = nn.BatchNorm2d(c), nn.BatchNorm2d(c)
        if squeeze:
            self.down, self.up = nn.Linear(c, squeeze), nn.Linear(squeeze, c)
        self.squeeze = squeeze

    def forward(self, x):
        y = self.nb(self.b(F.relu(self.na(self.a(x)))))
        if self.squeeze:
            s = F.relu(self.down(y.mean(dim=(2, 3))))
            y = y * torch.sigmoid(self.up(s)).unsqueeze(-1).unsqueeze(-1)
        return F.relu(x + y)


class BatchNorm(nn.Module):
    """Convolutions with batch norm as separate nodes; kernels of 5 and 1."""

    def __init__(self):
        super().__init__()
        self.a, self.na = nn.Conv2d(5, 16, 5, padding=2), nn.BatchNorm2d(16)
        self.b, self.nb = nn.Conv2d(16, 18, 3), nn.BatchNorm2d(18)
        self.c, self.nc = nn.Conv2d(18, 4, 1), nn.BatchNorm2d(4)
        self.out = nn.Linear(4 * 5 * 7, 11)

    def forward(self, planes):
        x = F.relu(self.na(self.a(planes)))
        x = F.relu(self.nb(self.b(x)))
        x = F.relu(self.nc(self.c(x)))
        return self.out(x.reshape(x.size(0), -1))


class Tower(nn.Module):
    """A residual tower with heads of policy and value; optional squeeze and excitation."""

    def __init__(self, squeeze=0):
        super().__init__()
        c = 16
        self.stem, self.norm = nn.Conv2d(9, c, 3, padding=1, bias=False), nn.BatchNorm2d(c)
        self.blocks = nn.Sequential(*[Block(c, squeeze) for _ in range(2)])
        self.p, self.pn = nn.Conv2d(c, 2, 1), nn.BatchNorm2d(2)
        self.v, self.vn = nn.Conv2d(c, 1, 1), nn.BatchNorm2d(1)
        self.policy = nn.Linear(2 * 8 * 9, 19)
        self.hidden, self.value = nn.Linear(8 * 9, 16), nn.Linear(16, 1)

    def forward(self, planes):
        x = self.blocks(F.relu(self.norm(self.stem(planes))))
        p = F.relu(self.pn(self.p(x))).flatten(1)
        v = F.relu(self.vn(self.v(x))).flatten(1)
        return self.policy(p), torch.tanh(self.value(F.relu(self.hidden(v))))


class GlobalPool(nn.Module):
    """Global mean and max pooling, which is added to the board as a bias."""

    def __init__(self):
        super().__init__()
        self.a, self.g = nn.Conv2d(4, 16, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.back, self.c, self.out = nn.Linear(16, 16), nn.Conv2d(16, 6, 3, padding=1), nn.Linear(12, 5)

    def forward(self, planes):
        x, g = self.a(planes), F.relu(self.g(planes))
        g = torch.cat([F.adaptive_avg_pool2d(g, 1), F.adaptive_max_pool2d(g, 1)], 1).flatten(1)
        x = F.relu(x + self.back(g)[:, :, None, None])
        x = self.c(x)
        return self.out(torch.cat([x.mean(dim=(2, 3)), x.amax(dim=(2, 3))], 1)), x.sum(dim=1)


class Dense(nn.Module):
    """A fully connected network with a mask of choices and many activations."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = nn.Linear(13, 24), nn.Linear(24, 24), nn.Linear(24, 24), nn.Linear(24, 10)
        self.prelu = nn.PReLU(24)

    def forward(self, scalars, mask):
        x = F.leaky_relu(self.a(scalars), 0.1)
        x = x + F.elu(self.b(x))
        x = self.prelu(self.c(x)) - F.softplus(x)
        x = self.d(torch.clamp(x, -3, 3))
        x = x.masked_fill(mask == 0, -1e9)
        return F.log_softmax(x, dim=1), F.softmax(x, dim=1)


class Norms(nn.Module):
    """Layer norm, over channels of cells and over whole rows."""

    def __init__(self):
        super().__init__()
        self.a, self.n = nn.Linear(7, 16), nn.LayerNorm(16)
        self.b, self.m = nn.Linear(16, 16), nn.LayerNorm((6, 16))
        self.out = nn.Linear(16, 3)

    def forward(self, cells):
        x = F.relu(self.n(self.a(cells)))
        x = self.m(x + self.b(x))
        return self.out(x.mean(1))


class Gelu(nn.Module):
    """GELU after convolutions and dense layers."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 12, 3, padding=1), nn.Linear(12 * 4 * 5, 16), nn.Linear(16, 4)

    def forward(self, planes):
        x = F.gelu(self.a(planes))
        x = F.gelu(self.b(x.view(x.shape[0], -1)))
        return self.c(F.gelu(x, approximate="tanh"))


class Attention(nn.Module):
    """Attention over the cells of a board, from single operations."""

    def __init__(self):
        super().__init__()
        self.heads, self.c = 2, 16
        self.stem = nn.Conv2d(6, self.c, 3, padding=1)
        self.place = nn.Parameter(torch.randn(1, 30, self.c) * 0.1)
        self.qkv, self.o = nn.Linear(self.c, 3 * self.c), nn.Linear(self.c, self.c)
        self.n, self.m = nn.LayerNorm(self.c), nn.LayerNorm(self.c)
        self.up, self.down = nn.Linear(self.c, 32), nn.Linear(32, self.c)
        self.policy, self.value = nn.Linear(self.c, 3), nn.Linear(self.c, 1)

    def forward(self, planes):
        x = self.stem(planes).flatten(2).transpose(1, 2) + self.place
        b, n, c = x.shape
        q, k, v = self.qkv(self.n(x)).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        a = (q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        x = x + self.o((a.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))
        x = x + self.down(F.gelu(self.up(self.m(x))))
        return self.policy(x).flatten(1), torch.tanh(self.value(x.mean(1)))


class Multihead(nn.Module):
    """PyTorch's own layer of attention, with the batch as second dimension."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 16)
        self.attention = nn.MultiheadAttention(16, 4)
        self.out = nn.Linear(16, 2)

    def forward(self, cells):
        x = self.a(cells).transpose(0, 1)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.out(x).transpose(0, 1)


class Scalars(nn.Module):
    """Scalars that are broadcast to planes, and shapes computed at run time."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(7 + 5, 16, 3, padding=1), nn.Conv2d(16, 3, 1)

    def forward(self, planes, scalars):
        n, _, h, w = planes.shape
        wide = scalars.view(n, 5, 1, 1).expand(n, 5, h, w)
        x = F.hardswish(self.a(torch.cat([planes.float(), wide], 1)))
        x = self.b(x)
        return x.permute(0, 2, 3, 1).reshape(n, -1), F.hardsigmoid(x).mean(dim=[1, 2, 3]).view(n, 1)


class Strides(nn.Module):
    """Strides, groups, dilation, pooling and instance normalization."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.b = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.c = nn.Conv2d(8, 12, 3, padding=2, dilation=2, groups=2)
        self.n = nn.InstanceNorm2d(12, affine=True)
        self.d = nn.Conv2d(12, 6, (1, 3))
        self.prelu = nn.PReLU(6)

    def forward(self, planes):
        x = F.relu(self.a(planes))
        x = F.max_pool2d(F.relu6(self.b(x)), 3, 1, 1)
        x = self.n(self.c(x))
        x = F.avg_pool2d(x, 2, 2, 1)
        x = self.prelu(self.d(F.pad(x, (1, 1, 0, 1), value=0.5)))
        first, second = x.chunk(2, 1)
        return (first * second).flatten(1), x[:, 1:5:2, :, -1].pow(2).add(1e-3).sqrt().sum(-1)


class Fixed(nn.Module):
    """A batch of one in the file; minima and maxima, exponents and logarithms."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(8 * 16, 6)

    def forward(self, planes):
        x = torch.exp(-self.a(planes) ** 2)
        x = torch.log(torch.maximum(x, torch.minimum(x * 2, x + 0.1)) + 1)
        x = self.b(x.view(1, 8 * 16))
        low, high = x.split([2, 4], 1)
        return torch.where(low == high[:, :2], low, -low), high


class Heads(nn.Module):
    """All inputs of a game: bytes, scalars and a mask; a policy and a value."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(9, 4, 3, padding=1), nn.Linear(4 + 19, 322)
        self.value = nn.Linear(4 + 19, 1)

    def forward(self, planes, scalars, mask):
        x = F.relu(self.a(planes.float())).mean(dim=(2, 3))
        x = torch.cat([x, scalars], 1)
        return self.b(x).masked_fill(mask == 0, -1e4), torch.tanh(self.value(x))


class Entities(nn.Module):
    """A list of entities: codes of cells, the map at each entity's cell and around it, attention with a mask."""

    def __init__(self):
        super().__init__()
        self.code, self.kind = nn.Embedding(9, 4), nn.Embedding(5, 3)
        self.a, self.b = nn.Conv2d(4, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)
        self.near = nn.Linear(4 * 9, 8)
        self.mix = nn.Linear(3 + 1 + 6 + 6 + 8 + 2, 16)
        self.qkv = nn.Linear(16, 48)
        self.out, self.value = nn.Linear(16, 5), nn.Linear(16, 1)

    def forward(self, codes, own, scalars):
        (n, count, _), (_, h, w) = own.shape, codes.shape
        cells = self.code(codes.long()).permute(0, 3, 1, 2)
        board = F.relu(self.b(F.relu(self.a(cells))))
        kind, x, y, health = own.long().unbind(2)
        live = kind > 0
        rows = torch.arange(n, device=own.device)[:, None]
        here = board.permute(0, 2, 3, 1)[rows, y, x]
        at = (y * w + x)[:, None].expand(-1, board.shape[1], -1)
        again = board.flatten(2).gather(2, at).transpose(1, 2)
        side = torch.arange(3, device=own.device)
        index = ((y * (w + 2) + x)[:, :, None, None] + side[:, None] * (w + 2) + side).flatten(1)
        wide = F.pad(cells, [1] * 4).flatten(2).transpose(1, 2)
        near = wide.gather(1, index[:, :, None].expand(-1, -1, 4)).view(n, count, -1)
        health = torch.log1p(health.float())[:, :, None]
        parts = [self.kind(kind), health, here, again, F.relu(self.near(near)), scalars[:, None].expand(-1, count, -1)]
        f = F.relu(self.mix(torch.cat(parts, 2)))
        q, k, v = self.qkv(f).view(n, count, 3, 2, 8).unbind(2)
        a = torch.einsum("bihd,bjhd->bhij", q, k) / 8**0.5
        a = torch.where(live[:, None, None], a, torch.tensor(-1e9)).softmax(-1)
        f = f + torch.einsum("bhij,bjhd->bihd", a, v).flatten(2)
        mean = (f * live[:, :, None]).sum(1) / live.sum(1, keepdim=True).clamp(min=1)
        return self.out(f).flatten(1), torch.tanh(self.value(mean))


class Steps(nn.Module):
    """Recurrent layers over a few steps with positions as waves."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(10, 7, batch_first=True)
        self.out = nn.Linear(7 + 7 + 20, 3)

    def forward(self, steps, state):
        at = torch.arange(steps.shape[1], device=steps.device)[:, None]
        rate = torch.exp(torch.arange(0, 6, 2, device=steps.device) * (-math.log(100.0) / 6))
        x = steps + torch.stack([torch.sin(at * rate), torch.cos(at * rate)], 2).flatten(1)
        x, (_, memory) = self.lstm(x)
        x, state = self.gru(x, state.transpose(0, 1).contiguous())
        return self.out(torch.cat([x[:, -1], state[0], memory.transpose(0, 1).flatten(1)], 1))


class Recurrent(nn.Module):
    """States from action to action, with the batch first; it plays Tower Defence."""

    def __init__(self):
        super().__init__()
        self.board = nn.Conv2d(9, 6, 3, padding=1)
        self.lstm = nn.LSTM(6 + 19, 8, num_layers=2, batch_first=True)
        self.gru = nn.GRU(8, 5, batch_first=True)
        self.policy, self.value = nn.Linear(8 + 5, 322), nn.Linear(5, 1)

    def forward(self, planes, scalars, state_h, state_c, state_g):
        x = torch.cat([F.relu(self.board(planes.float())).mean((2, 3)), scalars], 1)
        y, (h, c) = self.lstm(x[:, None], (state_h.transpose(0, 1).contiguous(), state_c.transpose(0, 1).contiguous()))
        z, g = self.gru(y, state_g.transpose(0, 1).contiguous())
        logits = 6 * self.policy(torch.cat([y[:, 0], z[:, 0]], 1))
        return logits, torch.tanh(self.value(z[:, 0])), h.transpose(0, 1), c.transpose(0, 1), g.transpose(0, 1)


class Indices(nn.Module):
    """Indices, order and whole numbers computed from the input."""

    def forward(self, cells, codes):
        n, size = cells.shape
        best, index = torch.topk(cells, 4)
        order = torch.argsort(cells, dim=1, descending=True)
        rows = torch.arange(n, device=cells.device)[:, None]
        put = cells.clone()
        put[rows, index] = 2 * best
        code = codes.long()
        count = torch.zeros(n, 10).scatter(1, code[:, :3], cells[:, :3])
        sums = ((code > 3) ^ (cells > 0)).long().cumsum(1)
        shares = F.one_hot(code // 4 + code % 4, 8).float().sum(1)
        ends = torch.stack([cells.argmax(1), cells.argmin(1), (cells < -0.5).any(1).long()], 1)
        whole = torch.cat([index, order, sums, ends, torch.floor(cells * 3).long()], 1).float()
        wrapped = (codes - 5).float() / 16
        return torch.cat([best, put, count, shares, cells.norm(dim=1, keepdim=True), cells.logsumexp(1, keepdim=True)], 1), whole, wrapped


class Boards(nn.Module):
    """Boards of other sizes: reflected and repeated cells, resizing, transposed convolutions; a group norm; products of
    three arrays and with a vector."""

    def __init__(self):
        super().__init__()
        self.a, self.norm = nn.Conv2d(4, 8, 3), nn.GroupNorm(2, 8)
        self.up, self.lines = nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1, groups=2), nn.ConvTranspose1d(6, 3, 4, dilation=2)
        self.low, self.high, self.vector = (nn.Parameter(torch.randn(n) / 3) for n in [(7, 4), (4, 5), 5])

    def forward(self, planes):
        x = F.relu(self.norm(self.a(F.pad(planes, (1, 2, 1, 1), mode="reflect"))))
        x = self.up(F.interpolate(x, scale_factor=1.5, mode="bilinear"))
        x = F.interpolate(x, size=(9, 7), mode="bilinear", align_corners=True)
        x = torch.atan(F.pad(x, (0, 0, 2, 1), mode="replicate"))
        cells = torch.einsum("...w,wk,kc->...c", x, self.low, self.high)
        return self.lines(cells.mean(dim=3)), cells @ self.vector


def normalise(model):
    """Gives batch norms statistics that differ from those of a new layer."""
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.2)
            m.running_var.uniform_(0.5, 1.5)
        if isinstance(m, (nn.BatchNorm2d, nn.LayerNorm, nn.InstanceNorm2d)):
            m.weight.data.uniform_(0.5, 1.5)
            m.bias.data.normal_(0, 0.2)


def planes(*shape):
    return torch.randint(0, 4, (ROWS, *shape)).float()


NETWORKS = [
    ("plain", Plain, 11, False, lambda: {"planes": torch.randint(0, 256, (ROWS, 9, 8, 6), dtype=torch.uint8)}, ["policy", "value"]),
    ("batchnorm", BatchNorm, 13, True, lambda: {"planes": planes(5, 7, 9)}, ["logits"]),
    ("tower", Tower, 12, True, lambda: {"planes": planes(9, 8, 9)}, ["policy", "value"]),
    ("folded", Tower, 9, False, lambda: {"planes": planes(9, 8, 9)}, ["policy", "value"]),
    ("squeeze", lambda: Tower(8), 14, True, lambda: {"planes": planes(9, 8, 9)}, ["policy", "value"]),
    ("globalpool", GlobalPool, 15, True, lambda: {"planes": planes(4, 6, 5)}, ["policy", "cells"]),
    ("dense", Dense, 11, False, lambda: {"scalars": torch.randn(ROWS, 13), "mask": torch.tensor([[1, 0] * 5, [1] * 10, [0, 0, 1, 1, 0] * 2], dtype=torch.uint8)}, ["logits", "shares"]),
    ("layernorm16", Norms, 16, False, lambda: {"cells": torch.randn(ROWS, 6, 7)}, ["logits"]),
    ("layernorm17", Norms, 17, False, lambda: {"cells": torch.randn(ROWS, 6, 7)}, ["logits"]),
    ("gelu", Gelu, 14, False, lambda: {"planes": planes(3, 4, 5)}, ["logits"]),
    ("attention", Attention, 17, False, lambda: {"planes": planes(6, 5, 6)}, ["policy", "value"]),
    ("multihead", Multihead, 16, False, lambda: {"cells": torch.randn(ROWS, 6, 5)}, ["logits"]),
    ("scalars", Scalars, 13, False, lambda: {"planes": torch.randint(0, 3, (ROWS, 7, 5, 4), dtype=torch.uint8), "scalars": torch.randn(ROWS, 5)}, ["policy", "value"]),
    ("strides", Strides, 16, False, lambda: {"planes": planes(4, 9, 8)}, ["policy", "value"]),
    ("heads", Heads, 13, False, lambda: {"planes": torch.randint(0, 3, (ROWS, 9, 8, 16), dtype=torch.uint8), "scalars": torch.rand(ROWS, 19), "mask": torch.randint(0, 2, (ROWS, 322), dtype=torch.uint8)}, ["policy", "value"]),
    ("fixed", Fixed, 12, False, lambda: {"planes": torch.rand(ROWS, 3, 4, 4)}, ["low", "high"]),
    ("entities", Entities, 16, False, lambda: {"codes": torch.randint(0, 9, (ROWS, 7, 8), dtype=torch.uint8), "own": torch.randint(0, 5, (ROWS, 6, 4), dtype=torch.uint8), "scalars": torch.randn(ROWS, 2)}, ["policy", "value"]),
    ("steps", Steps, 14, False, lambda: {"steps": torch.randn(ROWS, 5, 6), "state": torch.randn(ROWS, 1, 7)}, ["logits"]),
    ("indices", Indices, 13, False, lambda: {"cells": torch.randn(ROWS, 9), "codes": torch.stack([torch.randperm(10)[:9] for _ in range(ROWS)]).byte()}, ["mixed", "whole", "wrapped"]),
    ("boards", Boards, 14, False, lambda: {"planes": torch.randn(ROWS, 4, 6, 5)}, ["lines", "cells"]),
    ("recurrent", Recurrent, 13, False, lambda: {"planes": torch.randint(0, 3, (ROWS, 9, 8, 16), dtype=torch.uint8), "scalars": torch.rand(ROWS, 19), "state_h": torch.randn(ROWS, 2, 8), "state_c": torch.randn(ROWS, 2, 8), "state_g": torch.randn(ROWS, 1, 5)}, ["policy", "value", "next_state_h", "next_state_c", "next_state_g"]),
]


def main():
    cards, numbers = [], b""
    for seed, (name, make, opset, keep, inputs, outputs) in enumerate(NETWORKS):
        torch.manual_seed(seed)
        model = make()
        normalise(model)
        model.eval()
        given = inputs()
        fixed = name == "fixed"
        with torch.no_grad():
            if fixed:
                rows = [model(*[v[i : i + 1] for v in given.values()]) for i in range(ROWS)]
                answers = [torch.cat(a) for a in zip(*rows)]
            else:
                answers = model(*given.values())
        if isinstance(answers, torch.Tensor):
            answers = [answers]
        mode = torch.onnx.TrainingMode.PRESERVE if keep else torch.onnx.TrainingMode.EVAL
        torch.onnx.export(
            model,
            tuple(v[:1] if fixed else v for v in given.values()),
            os.path.join(HERE, name + ".onnx"),
            input_names=list(given),
            output_names=outputs,
            dynamic_axes=None if fixed else {n: {0: "batch"} for n in [*given, *outputs]},
            opset_version=opset,
            training=mode,
            do_constant_folding=not keep,
        )
        card = {"name": name, "opset": opset, "inputs": [], "outputs": []}
        for kind, named in (("inputs", given.items()), ("outputs", zip(outputs, answers))):
            for n, v in named:
                card[kind].append({"name": n, "type": str(v.dtype).removeprefix("torch."), "shape": list(v.shape)})
                numbers += v.contiguous().numpy().tobytes()
        cards.append(card)
    with open(os.path.join(HERE, "reference.json"), "w") as f:
        json.dump(cards, f, indent=1)
        f.write("\n")
    with open(os.path.join(HERE, "reference.bin"), "wb") as f:
        f.write(numbers)


if __name__ == "__main__":
    main()
