//! Programs with a few words deleted, added, or replaced by others: nothing panics, and a program
//! without errors becomes IR that the verifier accepts.

use super::*;
use fastrand::Rng;

const CORPUS: &[&str] = &[
    "const int N = 3; const float table[N] = { 1, 2, 3 }; texture2d wood; struct item { float a; float2 b; }; struct bag { int n; float w[4]; item i; };
     float sum(bag b, float x = 2) { float s; for (int i = 0; i < 4; ++i) { if (i == 2) continue; s += b.w[i] * x; } return s * b.n; }
     bag fill(float x, inout float y) { bag b; b.n = 2; b.w[1] = x; y += b.i.b.y; return b; }
     shader main(float gain = 1.5, out float o, out float3 c, out float q[2]) {
       float y = 1; bag b = fill(global_value<x>, y); item t[3]; t[1].b.y = 5; int i = 2; o = sum(b) + t[i].b.x + table[i];
       c = texture2d_sample<wood>(o, y) * gain; c.xy = c.yx; q[i] = c[i]; q[0] = ddx(c).z; bag d = { 1, { 1, 2 } }; o += sum(y > 2 ? b : d, 3);
     }",
    "float f(int a) { return 1; } float f(float a) { return a; } float f(float3 a, float b = 2) { return dot(a, float3(b)); }
     void set(out float x, inout float y) { x = 5; y += 1; } int count(inout int n) { return n++; }
     int tri(int n) { return n ? n + tri(n - 1) : 0; }
     shader main(out int o, out float p, out closure k) {
       int n = 3; uint u = 7u; bool b = n > 2 && --n; o = count(n) + count(n) * 10 + (b ? tri(n) : ~n) + (int)(u >> 1);
       float3 v = float3(1, 2, 4); set(v.y, v[n]); while (n && v.x < 10) { v.x *= 2; if (v.z > 3) break; do { n -= 1; } while (n > 0); }
       p = f(1) + f(v) + f(v, 1) + min(n, 3) + mix(v, 1.0 / v, 0.5).x + (n << 2) % 5;
       k = 0.5 * make_closure<glow>(p, n, v) + color(1, 0, 0) * make_closure<dark>(); k += k;
       for (;;) { if (p > 1) return; p += normalize(v).z + fwidth(p); }
     }",
    "struct ray : IDifferentiable { float2 at; int n; float depth; }; buffer<float> w; typedef DifferentialPair<float> Pair;
     float search(float x, int n) { float t = 1.0; for (int i = 0; i < n; i++) t = 0.5 * (t + x / t); return t * w[n]; }
     [ForwardDerivativeOf(search)] Pair rule(Pair x, int n) { float t = search(x.p, n); return diffPair(t, x.d / (2.0 * t)); }
     [BackwardDerivative(back)] [ForwardDerivative(ahead)] float scaled(float x, no_diff float k) { return k * x; } [Differentiable] float plain(float x) { float a[2] = { x, w[1] }; return a[0] * a[1]; }
     void back(inout Pair x, float k, float d) { x = diffPair(x.p, k * d); } Pair ahead(Pair x, float k) { return diffPair(k * x.p, k * x.d); }
     [Differentiable] ray moved(ray r, float by) { ray s = r; s.at += by; s.depth = search(r.depth, 3) + detach(by) + plain(by); return s; }
     [Differentiable] float total(float x) { ray r; r.at = float2(x, 2.0); r.depth = x; ray s = moved(r, x); return s.at.x * s.depth; }
     shader main(out float o, out float p) { float x = global_value<x>; Pair q = diffPair(x, 1.0); bwd_diff(total)(q, 1.0); o = q.d;
       p = fwd_diff(search)(diffPair(x, 1.0), 2).d + fwd_diff(scaled)(diffPair(x, 1.0), 2.0).d + ddx(search(x, 2)); }",
];

/// The words of a source, without white space.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let is_operator = |c: char| "+-*/%<>=!&|".contains(c);
        let len = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if is_operator(first) {
            rest.find(|c| !is_operator(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        words.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    words
}

/// A number, a name, or the mark itself.
fn kind(word: &str) -> (bool, bool, &str) {
    let first = word.chars().next().unwrap_or(' ');
    let (number, name) = (first.is_ascii_digit(), first.is_alphabetic());
    (number, name, if number || name { "" } else { word })
}

#[test]
fn mutants_are_refused_or_verify() {
    let mut random = Rng::with_seed(7);
    let pool: Vec<&str> = CORPUS.iter().flat_map(|text| words(text)).collect();
    let (mut valid, mut refused) = (0, 0);
    for text in CORPUS {
        module(&words(text).join(" "));
    }
    for round in 0..6_000 {
        let mut mutant = words(CORPUS[round % CORPUS.len()]);
        for _ in 0..random.usize(..3) + 1 {
            let at = random.usize(..mutant.len());
            let other = pool[random.usize(..pool.len())];
            match random.usize(..8) {
                0 => drop(mutant.remove(at)),
                1 => mutant.insert(at, other),
                // Mostly a word for one of its kind: such mutants pass the grammar.
                _ if kind(mutant[at]) == kind(other) => mutant[at] = other,
                _ => {}
            }
        }
        match compile(&mutant.join(" ")) {
            Ok(_) => valid += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(valid > 300 && refused > 1_000, "{valid} {refused}");
}
