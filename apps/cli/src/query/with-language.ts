/** Allows a query directly after `platform query`: `platform query "SELECT …"`, `platform query '[{"$match": …}]'`. */

/** Inserts `sql` or `mql` before a text that can only be one of them. @param argv as in process.argv */
export function withLanguage(argv: readonly string[]): string[] {
  const [, , command, text = ''] = argv;
  const language = /^\s*[[{]/.test(text) ? 'mql' : /^\s*(select|with)\s/i.test(text) ? 'sql' : undefined;
  if (command !== 'query' || language === undefined) return [...argv];
  return [...argv.slice(0, 3), language, ...argv.slice(3)];
}
