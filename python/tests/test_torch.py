"""`adumbra.torch`: values, derivatives of both modes and of second order, batches, threads,
processes, wrong usage."""

import doctest
import multiprocessing
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import adumbra
import adumbra.torch
import shaders
from shaders import BACKWARD_ALONE, CHANGING, DISC, NAMES, PRODUCT, SCREEN, SUM, TEXTURED, WAVE
from shaders import grey, hits, material, of_x
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

# Differences of four-byte floats.
NEAR = {"eps": 1e-3, "atol": 1e-2}

pytestmark = pytest.mark.filterwarnings("ignore:Input #.* is not a double precision")

def wave() -> Any:
    return of_x(WAVE)


def asking(value: Any) -> Tensor:
    return torch.tensor(np.float32(value), requires_grad=True)


def all_kinds() -> tuple[Any, dict[str, Tensor]]:
    program, values = shaders.all_kinds()
    return adumbra.torch.function(program), {name: asking(own) for name, own in values.items()}


def of_tensors(function: Any, values: dict[str, Tensor], **constants: Any) -> Any:
    """The outputs that have derivatives, as a function of tensors in the order of values."""
    found = function(**constants, **values)
    live = [name for name, output in found.items() if output.requires_grad]

    def outputs(*tensors: Tensor) -> tuple[Tensor, ...]:
        found = function(**constants, **dict(zip(values, tensors)))
        return tuple(found[name] for name in live)

    return outputs


@pytest.mark.parametrize("name", NAMES)
def test_materials_have_first_and_second_derivatives(name: str) -> None:
    torch.manual_seed(0)
    program = material(name)
    function = adumbra.torch.function(program, textures=grey(program))
    inputs = {name: asking(own.default) for name, own in program.inputs.items()}
    outputs = of_tensors(function, inputs, **hits(program))
    assert len(outputs(*inputs.values())) >= 2
    assert gradcheck(outputs, tuple(inputs.values()), **NEAR)
    assert gradgradcheck(outputs, tuple(inputs.values()), **NEAR)


def test_a_wrong_gradient_does_not_pass() -> None:
    function = adumbra.torch.function(wave())
    k = asking(0.7)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(lambda k: function(k=k, x=0.5) + 0.1 * k.detach(), (k,), **NEAR)


def test_all_kinds_of_parameters_have_derivatives_in_both_modes() -> None:
    torch.manual_seed(0)
    function, values = all_kinds()
    found = function(**values)
    assert list(found) == ["o", "moved.o", "moved.t", "moved.m", "i", "fixed"]
    asking = [name for name, own in found.items() if own.requires_grad]
    assert asking == ["o", "moved.o", "moved.t", "moved.m"]
    shapes = [tuple(own.shape) for own in found.values()]
    assert shapes == [(4,), (4, 3), (4, 2), (4, 2, 2), (4,), (4,)]
    outputs = of_tensors(function, values)
    assert gradcheck(outputs, tuple(values.values()), check_forward_ad=True, **NEAR)
    assert gradgradcheck(outputs, tuple(values.values()), check_fwd_over_rev=True, **NEAR)


def test_gradients_are_those_of_the_program() -> None:
    function, values = all_kinds()
    seed = torch.rand(4, generator=torch.Generator().manual_seed(3))
    function(**values)["o"].backward(seed)
    plain = {name: own.detach().numpy() for name, own in values.items()}
    image = {"tex": plain.pop("tex")}
    _, grads = function._differentiable.program.value_and_grad(
        plain,
        wrt=["all", "globals", "buffers", "textures"],
        seeds={"o": seed.numpy()},
        textures=image,
    )
    for name, value in values.items():
        expected = grads[name].reshape(value.shape).astype(np.float32)
        assert value.grad is not None and value.grad.shape == value.shape
        assert np.array_equal(value.grad.numpy(), expected), name


def test_adam_goes_the_same_way_as_in_numpy() -> None:
    program = wave()
    x = np.linspace(0, 2, 64, dtype=np.float32)
    target = np.float32(0.5) * np.sin(np.float32(3) * x)
    function = adumbra.torch.function(program)
    k, gain = asking(2.0), asking(1.0)
    optimizer = torch.optim.Adam([k, gain], lr=0.05)
    mine = np.array([2.0, 1.0], np.float32)
    first, second = np.zeros(2), np.zeros(2)
    for step in range(1, 61):
        optimizer.zero_grad()
        loss = ((function(k=k, gain=gain, x=x) - torch.from_numpy(target)) ** 2).mean()
        loss.backward()
        optimizer.step()
        values = {"k": float(mine[0]), "gain": float(mine[1]), "x": x}
        away = program(**values)["o"] - target
        seeds = {"o": away * np.float32(2 / len(x))}
        _, grads = program.value_and_grad(values, seeds=seeds)
        slope = np.array([grads["k"], grads["gain"]], np.float64)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        root = np.sqrt(second / (1 - 0.999**step)) + 1e-8
        mine = (mine - 0.05 * first / (1 - 0.9**step) / root).astype(np.float32)
        there = np.array([k.item(), gain.item()])
        assert np.allclose(there, mine, rtol=2e-4), step
    assert abs(k.item() - 3) < 0.1 and abs(gain.item() - 0.5) < 0.1


def test_adam_goes_the_way_of_fit() -> None:
    # One colour all over: blurred and halved images have it too, so stage k of a fit, the sum of
    # its first levels, has k + 1 times the loss of the image.
    flat = adumbra.compile("""
        shader flat(float a = 0.9 <<< min = 0.1, max = 2.1 >>>,
                    float2 b = float2(0.4, 0.45) <<< range = 1 >>>, out float3 c) {
            c = float3(sin(a * b.x), a * exp(-b.y), b.x * b.y + 0.1 * a); }""")
    side, steps, levels, alternations = 16, 11, 5, 5
    target = adumbra.image(flat, side, {"a": 0.5, "b": (0.7, 0.25)})
    # Stages of so few iterations do not end early.
    found = adumbra.fit(flat, target, rules="smooth", iterations=steps)
    trace = found.report["restarts"][0]["trace"]
    ends = range(0, alternations * levels * steps + 1, steps)
    assert [point["iteration"] for point in trace] == list(ends)
    function = adumbra.torch.function(flat)
    # Over the widths of their ranges, of which a step is at most a hundredth.
    a, b = asking(0.9 / 2), asking([0.4, 0.45])
    optimizer = torch.optim.Adam([a, b], lr=0.01)
    losses, places = [], []
    for step in range(ends[-1] + 1):
        optimizer.zero_grad()
        loss = ((function(a=a * 2, b=b) - torch.from_numpy(target[0, 0])) ** 2).mean()
        ((step // steps % levels + 1) * loss).backward()
        losses.append(loss.item())
        places.append([a.item() * 2, *b.tolist()])
        optimizer.step()
    # A stage reports its least loss, and the fit the place of the least of all.
    least = [min(losses[max(end - steps, 0) : end + 1]) for end in ends]
    assert np.allclose([point["loss"] for point in trace], least, rtol=1e-3, atol=1e-9)
    best = places[int(np.argmin(losses))]
    assert np.allclose([found.inputs["a"], *found.inputs["b"]], best, atol=1e-4)
    assert min(losses) < 1e-3 * losses[0]


def test_sums_of_outputs_go_backward_with_expanded_seeds() -> None:
    function = adumbra.torch.function(wave())
    x = torch.linspace(0, 1, 5)
    by_sum, by_ones = asking(0.7), asking(0.7)
    function(k=by_sum, x=x).sum().backward()
    function(k=by_ones, x=x).backward(torch.ones(5))
    assert torch.equal(by_sum.grad, by_ones.grad)


def test_graphs_go_backward_twice() -> None:
    function = adumbra.torch.function(wave())
    k = asking(0.7)
    loss = function(k=k, x=torch.linspace(0, 1, 5)).sum()
    loss.backward(retain_graph=True)
    once = k.grad.clone()
    # What runs between does not matter: nothing is kept.
    function(k=torch.tensor(5.0), x=torch.ones(3))
    loss.backward()
    assert torch.equal(k.grad, 2 * once)
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_values_changed_before_backward_are_noticed() -> None:
    function = adumbra.torch.function(wave())
    k = asking(0.7)
    x = torch.linspace(0, 1, 5)
    loss = function(k=k, x=x).sum()
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_backward_runs_on_other_threads() -> None:
    function = adumbra.torch.function(wave(), threads=2)
    x = torch.linspace(0, 1, 1000)
    tensors = [asking(0.5 + 0.01 * at) for at in range(16)]
    losses = [function(k=k, x=x).sum() for k in tensors]
    threads = [threading.Thread(target=loss.backward) for loss in losses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in tensors:
        again = k.detach().requires_grad_()
        function(k=again, x=x).sum().backward()
        assert torch.equal(k.grad, again.grad)


def test_gradients_have_the_shape_and_dtype_of_what_they_are_by() -> None:
    program = adumbra.compile("shader s(float3 k, out float o) { o = dot(k, global_value<uvw>); }")
    function = adumbra.torch.function(program)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        k = torch.ones(3, dtype=dtype, requires_grad=True)
        uvw = torch.ones((4, 1, 3), dtype=dtype).requires_grad_()
        function(k=k, uvw=uvw).sum().backward()
        assert (k.grad.dtype, k.grad.shape) == (dtype, k.shape)
        assert (uvw.grad.dtype, uvw.grad.shape) == (dtype, uvw.shape)
        assert torch.equal(k.grad, torch.full((3,), 4.0, dtype=dtype))


def test_broadcast_sides_are_summed() -> None:
    function = adumbra.torch.function(of_x(PRODUCT))
    x, y = asking([[1.0], [2.0]]), asking([3.0, 4.0, 5.0])
    found = function(x=x, y=y)
    assert found.shape == (2, 3)
    found.sum().backward()
    assert torch.equal(x.grad, torch.tensor([[12.0], [12.0]]))
    assert torch.equal(y.grad, torch.tensor([3.0, 3.0, 3.0]))
    # A tensor that is expanded, and one that is a column.
    wide = torch.ones(1).expand(7).requires_grad_()
    column = torch.arange(14.0).reshape(7, 2)[:, 1]
    function(x=wide, y=column).sum().backward()
    assert torch.equal(wide.grad, column)


def test_what_does_not_require_a_gradient_costs_none() -> None:
    function = adumbra.torch.function(wave())
    k, gain = asking(0.7), torch.tensor(1.0)
    function(k=k, gain=gain, x=torch.ones(3)).sum().backward()
    assert gain.grad is None
    # What the backward pass asked for comes last.
    *_, (asked, _) = function._differentiable._live
    assert asked == {"k"}
    with torch.no_grad():
        assert not function(k=k).requires_grad
    assert not function(k=gain).requires_grad


def test_wrt_makes_the_others_constants() -> None:
    function = adumbra.torch.function(wave(), wrt="k")
    k, gain = asking(0.7), asking(1.0)
    function(k=k, gain=gain, x=torch.ones(3)).sum().backward()
    assert k.grad is not None and gain.grad is None


def test_outputs_are_chosen_by_name() -> None:
    source = "shader s(float a, out float o, out color c) { o = a; c = color(a * a); }"
    program = adumbra.compile(source)
    one = adumbra.torch.function(program, of="c")(a=asking(2.0))
    assert one.shape == (3,)
    several = adumbra.torch.function(program, of=["c"])(a=asking(2.0))
    assert list(several) == ["c"]
    assert list(adumbra.torch.function(program)(a=2.0)) == ["o", "c"]


def test_batches_are_those_of_single_calls() -> None:
    function, values = all_kinds()
    values = {name: own.detach() for name, own in values.items()}
    rng = torch.Generator().manual_seed(2)

    def o(**some: Tensor) -> Tensor:
        return function(**(values | some))["o"]

    k = torch.rand((5, 3), generator=rng)
    uv = torch.rand((5, 4, 2), generator=rng)
    tex = torch.rand((5, 3, 3), generator=rng)

    def same(found: Tensor, each: Any) -> None:
        assert torch.equal(found, torch.stack(list(each)))

    same(vmap(lambda k: o(k=k))(k), (o(k=own) for own in k))
    same(vmap(lambda uv: o(uv=uv))(uv), (o(uv=own) for own in uv))
    same(vmap(lambda tex: o(tex=tex))(tex), (o(tex=own) for own in tex))
    both = vmap(lambda k, uv: o(k=k, uv=uv), in_dims=(1, 2))(k.T, uv.permute(1, 2, 0))
    same(both, (o(k=own, uv=at) for own, at in zip(k, uv)))
    # One point for each of the batch, beside globals of several.
    single = uv[:, 0]
    same(vmap(lambda uv: o(uv=uv))(single), (o(uv=own) for own in single))
    nested = vmap(vmap(lambda uv: o(uv=uv)))(uv.reshape(1, 5, 4, 2))
    assert torch.equal(nested[0], vmap(lambda uv: o(uv=uv))(uv))


def test_gradients_of_batches_are_those_of_single_calls() -> None:
    function, values = all_kinds()
    values = {name: own.detach() for name, own in values.items()}
    rng = torch.Generator().manual_seed(2)
    k, uv = torch.rand((5, 3), generator=rng), torch.rand((5, 4, 2), generator=rng)

    def total(k: Tensor, uv: Tensor) -> Tensor:
        return function(**(values | {"k": k, "uv": uv}))["o"].square().sum()

    for by, dims in ((0, (0, None)), (0, (None, 0)), (1, (None, 0)), (1, (0, None)), (1, (0, 0))):
        given = (k if dims[0] == 0 else k[0], uv if dims[1] == 0 else uv[0])
        found = vmap(grad(total, by), in_dims=dims)(*given)
        for at in range(5):
            own = (k[at if dims[0] == 0 else 0], uv[at if dims[1] == 0 else 0])
            assert torch.equal(found[at], grad(total, by)(*own)), (by, dims)
    plain = torch.autograd.functional.jacobian(total, (k[0], uv[0]))
    assert torch.equal(plain[0], grad(total)(k[0], uv[0]))


def test_globals_that_a_batch_shares_have_a_gradient_for_each() -> None:
    function = adumbra.torch.function(of_x(PRODUCT))
    slope = grad(lambda x, y: function(x=x, y=y).sum())
    x, y = torch.rand(4), torch.rand((5, 4))
    found = vmap(slope, (None, 0))(x, y)
    assert torch.equal(found, y)
    # One number for all points, too.
    assert torch.allclose(vmap(slope, (None, 0))(torch.tensor(2.0), y), y.sum(1))


def test_jacobians_and_hessians_agree() -> None:
    function, values = all_kinds()
    values = {name: own.detach() for name, own in values.items()}

    def o(k: Tensor) -> Tensor:
        return function(**(values | {"k": k}))["o"]

    k = values["k"]
    backward, forward = jacrev(o)(k), jacfwd(o)(k)
    assert backward.shape == (4, 3)
    assert torch.allclose(backward, forward, atol=1e-6)
    along = torch.tensor([0.5, -1.0, 2.0])
    assert torch.allclose(jvp(o, (k,), (along,))[1], forward @ along, atol=1e-6)
    over = hessian(lambda k: o(k).sum())(k)
    twice = torch.autograd.functional.hessian(lambda k: o(k).sum(), k)
    assert torch.allclose(over, twice, atol=1e-5)
    assert over.abs().max() > 0.1


def test_third_derivatives() -> None:
    program = adumbra.compile("shader s(float a, out float o) { o = a * a * a * a; }")
    function = adumbra.torch.function(program)
    a = asking(1.5)
    found = function(a=a)
    for expected in (4 * 1.5**3, 12 * 1.5**2, 24 * 1.5, 24.0):
        (found,) = torch.autograd.grad(found, a, create_graph=True)
        assert found.item() == expected


def test_duals_have_gradients_by_their_values() -> None:
    function = adumbra.torch.function(of_x(CHANGING))
    k, x = asking(2.0), asking([1.0, 2.0, 3.0])
    found = function(k=k, x=adumbra.Dual(x, ddx=torch.tensor(0.5)))
    found.sum().backward()
    assert k.grad.item() == 3.0
    assert torch.equal(x.grad, torch.full((3,), 1.0))
    with pytest.raises(ValueError, match="detach"):
        function(k=k, x=adumbra.Dual(x, ddx=asking(0.5)))


def test_edges_have_gradients_backward() -> None:
    program, pixel = adumbra.compile(DISC), shaders.pixels(9)
    radius = asking(2.7)
    adumbra.torch.function(program, rules="edge")(radius=radius, pixel=pixel).sum().backward()
    _, grads = program.value_and_grad({"radius": 2.7, "pixel": pixel}, rules="edge")
    assert radius.grad.item() == np.float32(grads["radius"])
    assert radius.grad.item() > 5
    smooth = adumbra.torch.function(program)(radius=radius, pixel=pixel)
    assert not smooth.requires_grad
    found = adumbra.torch.function(program, rules="edge")(radius=radius, pixel=pixel).sum()
    (slope,) = torch.autograd.grad(found, radius, create_graph=True)
    with pytest.raises(NotImplementedError, match="rules='edge'"):
        slope.backward()


class Curve(torch.nn.Module):
    """A curve by its values at equal distances: a buffer that is a parameter."""

    SOURCE = """
    buffer<float> curve;
    shader s(out float y) {
        float at = global_value<x> * (curve.length() - 1);
        int i = min((int)at, curve.length() - 2);
        y = mix(curve[i], curve[i + 1], at - i);
    }"""

    def __init__(self) -> None:
        super().__init__()
        self.function = adumbra.torch.function(of_x(self.SOURCE))
        self.curve = torch.nn.Parameter(torch.zeros(9))

    def forward(self, x: Tensor) -> Tensor:
        return self.function(curve=self.curve, x=x)


def test_buffers_are_parameters_of_modules() -> None:
    module = Curve()
    x = torch.linspace(0, 0.999, 200)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = (module(x) - x * x).square().mean()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-4
    again = pickle.loads(pickle.dumps(module))
    assert torch.equal(again(x), module(x))


class Points(torch.utils.data.Dataset):
    """Values of a shader, computed where they are loaded, and their gradient."""

    def __init__(self) -> None:
        self.function = adumbra.torch.function(wave())

    def __len__(self) -> int:
        return 6

    def __getitem__(self, at: int) -> Tensor:
        k = asking(0.5 + 0.1 * at)
        found = self.function(k=k, x=torch.linspace(0, 1, 100))
        found.sum().backward()
        return torch.cat([found.detach(), k.grad[None]])


def loaded(method: str) -> bool:
    """Whether the workers of a loader compute what this process does."""
    points = Points()
    here = torch.stack([points[at] for at in range(len(points))])
    loader = torch.utils.data.DataLoader(
        points, batch_size=None, num_workers=2, multiprocessing_context=method
    )
    return torch.equal(torch.stack(list(loader)), here)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_loaders_compute_the_same(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    # In a process of its own: this one may have threads of other libraries.
    check = f"import test_torch; assert test_torch.loaded({method!r})"
    subprocess.run([sys.executable, "-c", check], cwd=Path(__file__).parent, check=True)


def test_wrong_usage_says_what_is_right() -> None:
    function = adumbra.torch.function(wave())
    with pytest.raises(KeyError, match="`gian`; did you mean `gain`"):
        function(gian=1.0)
    with pytest.raises(ValueError, match=r"`x.cpu\(\)`"):
        function(x=torch.ones(3, device="meta"))
    with pytest.raises(ValueError, match=r"`x.to_dense\(\)`"):
        function(x=torch.ones(3).to_sparse())
    with pytest.raises(ValueError, match="`k` is an input, which all points share"):
        function(k=torch.ones(3))
    with pytest.raises(TypeError, match="complex"):
        function(x=torch.ones(3, dtype=torch.complex64))
    with pytest.raises(ValueError, match="3 and 4 points"):
        adumbra.torch.function(of_x(SUM))(x=torch.ones(3), y=torch.ones(4))
    with pytest.raises(KeyError, match="no output that is an array is named `p`"):
        adumbra.torch.function(wave(), of="p")
    with pytest.raises(KeyError, match="no texture of the program is named `wood`"):
        adumbra.torch.function(wave(), textures={"wood": np.ones((2, 2))})
    with pytest.raises(KeyError, match="`kk`"):
        adumbra.torch.function(wave(), wrt=["kk"])
    with pytest.raises(ValueError, match="rules are"):
        adumbra.torch.function(wave(), rules="smoth", wrt="k")
    with pytest.raises(ValueError, match="an engine is"):
        adumbra.torch.function(wave(), engine="gpu")(x=1.0)


def test_derivatives_that_do_not_exist_are_reported() -> None:
    k = asking(3.0)
    function = adumbra.torch.function(adumbra.compile(BACKWARD_ALONE))
    (slope,) = torch.autograd.grad(function(k=k), k, create_graph=True)
    assert slope.item() == 6.0
    with pytest.raises(adumbra.CompileError, match="E0559"):
        slope.backward()


def test_gradients_pass_screen_derivatives() -> None:
    k = asking(3.0)
    function = adumbra.torch.function(adumbra.compile(SCREEN))
    found = function(k=k, uv=adumbra.Dual((0.5, 0.5), ddx=(0.25, 0.0), ddy=(0.0, 0.25)))
    (slope,) = torch.autograd.grad(found, k, create_graph=True)
    (curve,) = torch.autograd.grad(slope, k)
    assert (found.item(), slope.item(), curve.item()) == (2.25, 1.5, 0.5)


def test_faults_and_exceptions_come_out_as_they_are() -> None:
    source = "shader s(float k, out float o) { o = k; while (true) o += k; }"
    program = adumbra.compile(source)
    with pytest.raises(adumbra.FaultError):
        adumbra.torch.function(program, steps=1000)(k=1.0)
    adumbra.torch.function(program, steps=1000, errors="return")(k=1.0)

    def refuses(_: np.ndarray) -> np.ndarray:
        raise LookupError("no texel")

    textured = adumbra.torch.function(adumbra.compile(TEXTURED), textures={"t": refuses})
    with pytest.raises(LookupError, match="no texel"):
        textured(k=1.0)

    answers = True

    def answers_once(requests: np.ndarray) -> np.ndarray:
        if not answers:
            raise LookupError("no texel")
        return np.ones((len(requests), 12), np.float32)

    textured = adumbra.torch.function(adumbra.compile(TEXTURED), textures={"t": answers_once})
    k = asking(0.5)
    found = textured(k=k)
    answers = False
    with pytest.raises(LookupError, match="no texel"):
        found.backward()
    answers = True
    textured(k=k).backward()
    assert k.grad.item() == 1.0 + 2 * 0.5


def test_nothing_is_warned_of() -> None:
    function = adumbra.torch.function(wave())
    read_only = np.broadcast_to(np.float32(0.5), (4,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(k=asking(1.0), x=read_only).sum().backward()


def test_the_example_of_the_module_does_what_it_says() -> None:
    assert doctest.testmod(adumbra.torch).attempted > 3
    assert doctest.testmod(adumbra.torch).failed == 0
