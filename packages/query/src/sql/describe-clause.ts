/** For explaining a query: translates positions and stages of a plan into the clauses of the statement. */

import { lex, type Token } from './parser/lex.ts';
import { site } from './planner/lower.ts';

const clauses: Readonly<Record<string, string>> = {
  ...{ WITH: 'WITH', SELECT: 'SELECT', FROM: 'FROM', ON: 'ON', WHERE: 'WHERE', GROUP: 'GROUP BY', HAVING: 'HAVING' },
  ...{ ORDER: 'ORDER BY', LIMIT: 'LIMIT', OFFSET: 'OFFSET', UNION: 'UNION' },
};
/** Words that are not always a clause, such as in EXTRACT(YEAR FROM …), and the clauses after which they are one. */
const behind: Readonly<Record<string, readonly string[]>> = { FROM: ['SELECT'], ON: ['FROM', 'ON'] };
const ofStages: Readonly<Record<string, string>> = {
  ...{ $match: 'WHERE', $sort: 'ORDER BY', $limit: 'LIMIT', $project: 'SELECT' },
};

/** The contents of two parentheses, or the whole statement. */
interface Frame {
  clause: string;
  /** Whether the clause began inside this frame. */
  isOwn: boolean;
  /** Whether it is the whole statement, or rows that it reads: parentheses in a condition are something else. */
  readonly isSource: boolean;
}

/**
 * @param text a statement that parses @returns a function that describes a position (`line 1, column 51`) with its clause, `WHERE (line 1,
 * column 51)`, and a stage (`$group`) as the clause that requires it; it returns anything else unchanged.
 */
export function clauseWords(text: string): (done: string) => string {
  const clauseAt = new Map<string, string>();
  let groups = 'aggregates';
  const frames: Frame[] = [{ clause: '', isOwn: false, isSource: true }];
  let before: Token | undefined;
  for (const token of lex(text)) {
    const frame = frames.at(-1) as Frame;
    if (token.kind === 'symbol' && token.text === '(') {
      const isSource = frame.isSource && ['WITH', 'FROM'].includes(frame.clause);
      frames.push({ clause: frame.clause, isOwn: false, isSource });
    } else if ((token.kind === 'symbol' && token.text === ')') || token.kind === 'end') {
      if (frames.length > 1) frames.pop();
    } else if (token.kind === 'word' && before?.text !== '.') enter(frame, token.text.toUpperCase());
    if (frame.isSource && frame.isOwn && frame.clause === 'GROUP BY') groups = frame.clause;
    clauseAt.set(site(token), frame.clause);
    before = token;
  }
  return (done) => {
    const clause = clauseAt.get(done);
    if (clause !== undefined && clause !== '') return `${clause} (${done})`;
    return done === '$group' ? groups : (ofStages[done] ?? done);
  };
}

function enter(frame: Frame, word: string): void {
  const clause = Object.hasOwn(clauses, word) ? clauses[word] : undefined;
  if (clause === undefined || behind[word]?.includes(frame.isOwn ? frame.clause : '') === false) return;
  frame.clause = clause;
  frame.isOwn = true;
}
