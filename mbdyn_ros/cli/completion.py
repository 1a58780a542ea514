"""mbdyn completion: verbs, options and robots completed by the Tab key."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what lets a shell complete verbs, options and robots by the Tab key.

    \b
    Examples:
      eval "$(mbdyn completion bash)"                    # now
      echo 'eval "$(mbdyn completion bash)"' >> ~/.bashrc
      echo 'eval "$(mbdyn completion zsh)"' >> ~/.zshrc
      mbdyn completion fish > ~/.config/fish/completions/mbdyn.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    click.echo(kind(context.find_root().command, {}, "mbdyn", "_MBDYN_COMPLETE").source())
