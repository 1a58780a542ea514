"""The scene of a page: bodies, meshes, joints."""
