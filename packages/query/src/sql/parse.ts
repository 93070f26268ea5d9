/** SQL: turns a statement into the same plan as MQL. */

import { isPathColumn, isTimeColumn, readingColumns } from '../plan/columns.ts';
import { call, literal } from '../plan/expr.ts';
import type { Plan, Stage } from '../plan/stage.ts';
import { QueryError, reading } from '../query-error.ts';
import { Cursor, fault } from './parser/cursor.ts';
import { lex } from './parser/lex.ts';
import { parseQuery, parseStatement } from './parser/statement.ts';
import { compileQuery } from './planner/query-plan.ts';
import { isBare, type Rows, wrapped } from './planner/rows.ts';
import type { Source } from './planner/scope.ts';
import type { Tables } from './planner/tables.ts';
import { anything, documentKind, holds, type Kind, kindOf } from './types/kind.ts';

export type { Tables } from './planner/tables.ts';

/** A longer statement (in UTF-16 units) is refused. */
export const maxStatementLength: number = 1024 * 1024;

/**
 * The form of rows from several tables. `flat` is for clients: one document with the fields of all tables. `tables` is the dialect's own
 * form, a field for each table, '' for computed columns; `merged` is like `flat`, but two fields of the same name are an error.
 */
export type RowForm = 'flat' | 'tables' | 'merged';

const readings: Tables = {
  database: 'sensorData',
  databases: { sensorData: { readings: { source: 'readings', kind: documentKind(readingColumns.map(columnKind)) } } },
};

function columnKind(name: string): [string, Kind] {
  if (isPathColumn(name)) return [name, kindOf('string', 'null', 'missing')];
  if (isTimeColumn(name)) return [name, kindOf('date', 'null', 'missing')];
  if (name === 'tags') return [name, { types: new Set(['array', 'null', 'missing']), items: kindOf('string') }];
  return [name, anything];
}

/** @throws QueryError with line, column and usually a hint. */
export function parseSql(text: string, tables: Tables = readings, form: RowForm = 'flat'): Plan {
  if (text.length > maxStatementLength) {
    throw new QueryError(
      'BadValue',
      `a statement can have at most ${maxStatementLength} characters, this one has ${text.length}`,
    );
  }
  return reading(() => {
    const query = parseStatement(new Cursor(lex(text), parseQuery));
    const rows = compileQuery(query, {
      ...{ tables, named: new Map(), exact: form !== 'flat', compiled: { queries: 0 } },
      compile: compileQuery,
    });
    return { source: rows.source, stages: [...rows.stages, ...formed(rows, form, query.at)] };
  });
}

function formed(rows: Rows, form: RowForm, at: Parameters<typeof fault>[0]): Stage[] {
  if (form === 'tables') return wrapped(rows).stages.slice(rows.stages.length);
  if (isBare(rows)) return [];
  if (form === 'merged') refuseSameNames(rows, at);
  const args = rows.sources.flatMap(({ name, doc }) => [literal(name), doc]);
  return [{ k: 'replace', with: call('sql.flat', args, 'SELECT') }];
}

function tableText({ name }: Source): string {
  return name === '' ? 'the list of SELECT' : name;
}

function refuseSameNames({ sources }: Rows, at: Parameters<typeof fault>[0]): void {
  const vague = sources.find(({ kind }) => kind.open === true && kind.assumed !== true);
  if (vague !== undefined && sources.length > 1) {
    throw fault(at, `${tableText(vague)} may have the same columns as others`, 'select them by name, with aliases');
  }
  for (const [index, source] of sources.entries()) {
    for (const name of source.kind.fields?.keys() ?? []) {
      const other = sources.slice(0, index).find(({ kind }) => kind.fields?.has(name) ?? holds(kind, name) === 'must');
      if (other !== undefined)
        throw fault(
          at,
          `${tableText(other)} and ${tableText(source)} both have a column ${name}`,
          'select them with aliases',
        );
    }
  }
}
