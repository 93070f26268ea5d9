import { readInput } from '../invocation/input.ts';

/** The text of a query: as it was given, from the file after `@`, or from standard input for `-`. @throws invalid_argument */
export async function queryText(argument: string): Promise<string> {
  if (argument === '-') return readInput('-');
  return argument.startsWith('@') ? readInput(argument.slice(1)) : argument;
}
