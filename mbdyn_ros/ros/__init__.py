"""ROS 2 nodes. Nothing here computes dynamics; nothing outside imports rclpy."""
