"""Methods of integration: what they are called, and the steps they take. They know no robot."""
