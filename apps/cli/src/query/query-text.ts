import { readInput } from '../invocation/input.ts';

/** The text of a query: the argument itself, the file after `@`, or standard input for `-`. @throws invalid_argument */
export async function queryText(argument: string): Promise<string> {
  if (argument === '-') return readInput('-');
  return argument.startsWith('@') ? readInput(argument.slice(1)) : argument;
}
