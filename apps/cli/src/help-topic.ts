/** `platform help machines part list`: the help of any command; a word that is not a command is a usage error with a suggestion. */
import type { Command } from 'commander';

/** @param words after `help` */
export async function showHelp(program: Command, words: readonly string[]): Promise<void> {
  let at = program;
  for (const [index, word] of words.entries()) {
    const inner = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (inner !== undefined) at = inner;
    else if (at.commands.length > 0) await program.parseAsync(['', '', ...words.slice(0, index + 1)]);
    else break;
  }
  at.help();
}
