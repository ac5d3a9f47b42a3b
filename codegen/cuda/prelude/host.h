// Host intrinsics.
