/** TIMESTAMP '…', {ts '…'} and {d '…'}: an invalid time is refused. CAST of such a text is null, like every cast that fails. */

import { parseDate } from '../../functions/dates/date-text.ts';
import type { SqlNode } from './ast.ts';
import { fault } from './cursor.ts';
import type { Token } from './lex.ts';

export function writtenTime(text: Token, at: Token): SqlNode {
  if (parseDate(text.text) === undefined) {
    const hint = "write it as ISO 8601, e.g. '2026-01-31T12:00:00Z'";
    throw fault(text, `'${text.text.slice(0, 80)}' is not a timestamp`, hint);
  }
  return { k: 'call', fn: 'sql.castTimestamp', args: [{ k: 'literal', value: text.text, at: text }], at };
}
