/** Checks the books: sums, the hash chain, numbers without gaps, and that each invoice matches the ledger. */
import type { Database } from '../../metadata/tables.ts';
import { hashOf, type LedgerLine } from './post.ts';

export interface LedgerReport {
  readonly lines: number;
  readonly invoices: number;
  /** Human-readable; empty: the books are consistent. */
  readonly problems: readonly string[];
}

const pageSize = 10_000;
const maxProblems = 100;

export async function checkLedger(db: Database): Promise<LedgerReport> {
  const problems: string[] = [];
  const say = (problem: string): void => {
    if (problems.length < maxProblems) problems.push(problem);
  };
  const receivable = new Map<string, number>();
  const sums = new Map<string, number>();
  let last: LedgerLine | undefined;
  let lines = 0;
  for (;;) {
    const page = await nextLines(db, last);
    for (const line of page) {
      const before = last?.biller_id === line.biller_id ? last : undefined;
      const at = `biller ${line.biller_id}, line ${line.line}`;
      if (line.line !== (before?.line ?? 0) + 1)
        say(`${at}: expected line ${(before?.line ?? 0) + 1}: lines are missing`);
      if (line.hash !== hashOf(before?.hash ?? '', line)) say(`${at}: the hash does not match: a line was changed`);
      sums.set(line.transaction_id, (sums.get(line.transaction_id) ?? 0) + line.minor);
      if (line.account === 'receivable')
        receivable.set(line.invoice_id, (receivable.get(line.invoice_id) ?? 0) + line.minor);
      last = line;
    }
    lines += page.length;
    if (page.length < pageSize) break;
  }
  for (const [id, sum] of sums) if (sum !== 0) say(`transaction ${id}: expected a sum of 0, found ${sum}`);
  const invoices = await checkInvoices(db, receivable, say);
  return { lines, invoices, problems };
}

async function nextLines(db: Database, after: LedgerLine | undefined): Promise<LedgerLine[]> {
  let query = db.selectFrom('ledger_lines').selectAll().orderBy('biller_id').orderBy('line').limit(pageSize);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('biller_id', 'line'), '>', tuple(after.biller_id, after.line)),
    );
  return await query.execute();
}

async function checkInvoices(
  db: Database,
  receivable: ReadonlyMap<string, number>,
  say: (problem: string) => void,
): Promise<number> {
  const invoices = await db
    .selectFrom('invoices')
    .select(['id', 'biller_id', 'sequence', 'number', 'kind', 'subtotal', 'tax', 'total', 'paid', 'state'])
    .orderBy('biller_id')
    .orderBy('sequence')
    .execute();
  let [billerId, expected] = ['', 1];
  for (const { id, number, kind, subtotal, tax, total, paid, state, sequence, ...row } of invoices) {
    if (row.biller_id !== billerId) [billerId, expected] = [row.biller_id, 1];
    if (sequence !== expected) say(`biller ${billerId}: expected number ${expected}, found ${number}`);
    expected = sequence + 1;
    if (subtotal + tax !== total) say(`invoice ${number}: subtotal and tax do not add up to the total`);
    if (kind === 'credit_note') continue;
    const owed = state === 'void' ? 0 : total - paid;
    if ((receivable.get(id) ?? 0) !== owed)
      say(`invoice ${number}: expected ${owed} still owed, found ${receivable.get(id) ?? 0} in the ledger`);
    if ((state === 'paid') !== (paid === total && state !== 'void'))
      say(`invoice ${number}: ${paid} of ${total} are paid, but it is ${state}`);
  }
  return invoices.length;
}
