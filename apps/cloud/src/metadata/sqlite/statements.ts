/** Cache of prepared statements by their text; the least recently used one is dropped first. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SqlValue, StatementResult } from './writer-protocol.ts';

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

export class Statements {
  readonly #db: DatabaseSync;
  readonly #limit: number;
  readonly #prepared = new Map<string, Prepared>();

  constructor(db: DatabaseSync, limit = 300) {
    this.#db = db;
    this.#limit = limit;
  }

  execute(sql: string, params: readonly SqlValue[]): StatementResult {
    const { statement, returnsRows } = this.#prepare(sql);
    if (returnsRows) {
      const rows = statement.all(...params);
      return { rows, changes: rows.length, insertId: 0 };
    }
    const { changes, lastInsertRowid } = statement.run(...params);
    return { rows: [], changes: Number(changes), insertId: Number(lastInsertRowid) };
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared) {
      this.#prepared.delete(sql);
    } else {
      const statement = this.#db.prepare(sql);
      prepared = { statement, returnsRows: statement.columns().length > 0 };
      const oldest = this.#prepared.size >= this.#limit ? this.#prepared.keys().next().value : undefined;
      if (oldest !== undefined) this.#prepared.delete(oldest);
    }
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}
