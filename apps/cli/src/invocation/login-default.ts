/** `platform login` alone means `platform login browser`; a misspelled command is an error with a suggestion. */

/** @param argv as in process.argv */
export function withLoginDefault(argv: readonly string[]): string[] {
  const [, , command, next = '--'] = argv;
  if (command !== 'login' || !next.startsWith('-') || ['-h', '--help'].includes(next)) return [...argv];
  return [...argv.slice(0, 3), 'browser', ...argv.slice(3)];
}
