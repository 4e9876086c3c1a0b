"""Checks of arrays that need no library."""

import unittest

import numpy as np

from moonfarm import arrays, spaces


class Put(unittest.TestCase):
    def test_takes_any_whole_numbers(self):
        to = np.zeros(3, np.int32)
        for dtype in (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64):
            arrays.put("actions", to, np.array([1, 2, 3], dtype))
            self.assertEqual(to.tolist(), [1, 2, 3])
            to[:] = 0
        arrays.put("actions", to, [4, 5, -1])
        self.assertEqual(to.tolist(), [4, 5, -1])
        arrays.put("actions", to, np.arange(6)[::2])
        self.assertEqual(to.tolist(), [0, 2, 4])

    def test_large_numbers_do_not_wrap_into_choices(self):
        to = np.zeros(2, np.int32)
        arrays.put("actions", to, np.array([2**32 + 5, -(2**32) + 5]))
        self.assertEqual(to.tolist(), [2**31 - 1, -(2**31)])
        arrays.put("actions", to, np.array([2**32 + 5, 2**63 + 5], np.uint64))
        self.assertEqual(to.tolist(), [2**31 - 1, 2**31 - 1])
        arrays.put("actions", to, np.array([2**31 + 5, 7], np.uint32))
        self.assertEqual(to.tolist(), [2**31 - 1, 7])

    def test_names_what_does_not_fit(self):
        to = np.zeros(2, np.int32)
        with self.assertRaisesRegex(ValueError, r"actions: expected shape \(2,\), got \(3,\)"):
            arrays.put("actions", to, [1, 2, 3])
        for wrong in ([0.5, 1.0], [True, False], ["a", "b"], [None, None]):
            with self.assertRaisesRegex(TypeError, "actions: expected whole numbers"):
                arrays.put("actions", to, wrong)


class Check(unittest.TestCase):
    def test_names_what_does_not_fit(self):
        def refused(array, kind, text):
            with self.assertRaisesRegex(kind, r"buffers\['x'\]: " + text):
                arrays.check("buffers['x']", array, (2, 3), np.dtype(np.float32))

        good = np.zeros((2, 3), np.float32)
        arrays.check("x", good, (2, 3), good.dtype)
        refused([[0] * 3] * 2, TypeError, "expected a numpy array of float32 \\[2, 3\\], got list")
        refused(good.astype(float), TypeError, "expected dtype float32, got float64")
        refused(np.zeros((3, 2), np.float32), ValueError, r"expected shape \(2, 3\), got \(3, 2\)")
        refused(np.zeros((3, 2), np.float32).T, ValueError, "expected an array in C order")
        refused(np.zeros((2, 6), np.float32)[:, ::2], ValueError, "expected an array in C order")
        frozen = good.copy()
        frozen.flags.writeable = False
        refused(frozen, ValueError, "the array is read-only")
        odd = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float32).reshape(2, 3)
        refused(odd, ValueError, "the array is not aligned")


class Masks(unittest.TestCase):
    def test_bits(self):
        words = np.array([[5, 1], [0, 2]], np.uint64)
        masks = arrays.unpack_masks(words, 66)
        self.assertEqual((masks.shape, masks.dtype), ((2, 66), np.bool_))
        self.assertEqual([np.flatnonzero(m).tolist() for m in masks], [[0, 2, 64], [65]])
        self.assertEqual(arrays.unpack_masks(words[0], 66).shape, (66,))


class Forms(unittest.TestCase):
    def test_obs(self):
        self.assertEqual(arrays.parts_of("planes"), (("planes", "scalars"), False))
        self.assertEqual(arrays.parts_of(("packed",)), (("packed",), True))
        self.assertEqual(arrays.parts_of(["mask", "planes"]), (("mask", "planes"), False))
        for wrong in ("plane", (), ("planes", "planes"), ("x",)):
            with self.assertRaisesRegex(ValueError, "^obs: "):
                arrays.parts_of(wrong)


class Fallback(unittest.TestCase):
    """The package's own spaces, which it uses without Gymnasium."""

    def test_box(self):
        box = spaces.Box(0, 255, (2, 3), np.uint8, seed=1)
        self.assertIn(box.sample(), box)
        self.assertNotIn(np.zeros((3, 2), np.uint8), box)
        self.assertNotIn(np.zeros((2, 3)), box)
        self.assertNotIn(np.full((2, 3), 300), box)
        self.assertEqual(box, spaces.Box(0, 255, (2, 3), np.uint8))
        self.assertNotEqual(box, spaces.Box(0, 254, (2, 3), np.uint8))
        for dtype, high in ((np.float32, 2.0**31), (np.uint64, 2**64 - 1)):
            box = spaces.Box(0, high, (4,), dtype)
            self.assertIn(box.sample(), box)

    def test_discrete(self):
        n = spaces.Discrete(5, seed=3)
        self.assertEqual({int(n.sample()) for _ in range(200)}, set(range(5)))
        self.assertEqual({int(n.sample(np.array([0, 1, 0, 1, 0], np.int8))) for _ in range(50)}, {1, 3})
        self.assertEqual(n.sample(np.zeros(5, np.int8)), 0)
        self.assertTrue(4 in n and np.int32(0) in n)
        self.assertFalse(5 in n or -1 in n or 1.0 in n)

    def test_multi_discrete(self):
        m = spaces.MultiDiscrete([3, 2], np.int32, seed=1)
        self.assertIn(m.sample(), m)
        self.assertEqual(m.sample((np.array([0, 0, 1], np.int8), np.array([1, 0], np.int8))).tolist(), [2, 0])
        self.assertNotIn(np.array([3, 0]), m)
        self.assertEqual(repr(m), "MultiDiscrete([3 2])")

    def test_dict_and_seed(self):
        def make():
            return spaces.Dict({"a": spaces.Discrete(1000), "b": spaces.Box(0, 1, (2,), np.float32)})

        one, two = make(), make()
        one.seed(7)
        two.seed(7)
        x, y = one.sample(), two.sample()
        self.assertTrue(x in one and one == two)
        self.assertEqual(x["a"], y["a"])
        np.testing.assert_array_equal(x["b"], y["b"])
        self.assertNotIn({"a": 1}, one)
        self.assertEqual(list(one), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
