/**
 * Checks that each table of the cloud has one owner: the feature whose sources create it. Only the owner names the table in a statement;
 * other features call its functions, or join the tables that it offers to their queries. A feature's store.ts has only the types of its own
 * tables.
 */
import { filesToCheck, isSource, isTest, read, report, withoutComments } from './repository.ts';

export interface Exception {
  /** A file, or a folder with a trailing slash. */
  readonly module: string;
  /** Exactly the tables of other features that it names. */
  readonly tables: readonly string[];
  readonly reason: string;
}

const app = 'apps/cloud/src/';

export const exceptions: readonly Exception[] = [
  {
    module: `${app}backup/`,
    tables: [
      ...['audit_entries', 'binary_data', 'blobs', 'installation', 'instance_state', 'log', 'log_state'],
      ...['packages', 'schema_version', 'tabular_files', 'tabular_state'],
    ],
    reason: 'copies and restores whole stores, without the features that are not open then',
  },
];

const named = /create table (?:if not exists )?(\w+)\s*\(|alter table \w+ rename to (\w+)/g;

/**
 * The feature that creates each table, or renames one to it. A table that a later version drops or renames has no owner. @param files text
 * by path
 */
export function ownersOf(files: ReadonlyMap<string, string>): { owners: Map<string, string>; problems: string[] } {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const [path, text] of files) {
    for (const [, created, renamed = ''] of withoutComments(text).matchAll(named)) {
      const table = created ?? renamed;
      const before = owners.get(table);
      if (before !== undefined && before !== featureOf(path))
        problems.push(`${path}: table ${table} belongs to ${before} already`);
      owners.set(table, featureOf(path));
    }
  }
  for (const text of files.values()) {
    // A rebuilt table is dropped, and the new one gets its name.
    const renamedTo = new Set([...text.matchAll(/rename to (\w+)/g)].map(([, name = '']) => name));
    for (const [, dropped, renamed = ''] of text.matchAll(/drop table (\w+)|alter table (\w+) rename to/g))
      if (!renamedTo.has(dropped ?? renamed)) owners.delete(dropped ?? renamed);
  }
  return { owners, problems };
}

/** Tables whose rows a store.ts describes: `interface AccessTables { grants: { … } }`. */
function typedIn(text: string): string[] {
  const bodies = [...text.matchAll(/^export interface \w+Tables \{\n([\s\S]*?)^\}/gm)].map(([, body = '']) => body);
  return bodies.flatMap((body) => [...body.matchAll(/^ {2}(\w+):/gm)].map(([, table = '']) => table));
}

/** Folder below the sources of the cloud; empty for a file that wires them. */
function featureOf(path: string): string {
  const [first = '', ...rest] = path.slice(app.length).split('/');
  return rest.length > 0 ? first : '';
}

/** Names in positions where a statement names a table. */
const builder =
  /\b(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|replaceInto|using|table|(?:inner|left|right|full|cross)Join)\(\s*(\[[^\]]*\]|'[^']*')/g;
/** Lists in loops, types of rows, sealed columns. */
const elsewhere = /\bof (\[[^\]]*\]) as const|Tables\[('\w+')\]|\btable: ('\w+')/g;
const name = /['"`](\w+)(?: as \w+)?['"`]/g;
const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
const statement = /\b(?:select|insert into|delete from|update \w+ set|(?:create|alter|drop|truncate) \w+)\b/i;
const inStatement = /\b(?:from|join|into|update|table|on)\s+(?:only\s+)?(?:\w+\.)?(\w+)/gi;

/** Each table that a file names, with the line. @param tables the existing tables */
export function tablesIn(
  text: string,
  tables: ReadonlySet<string>,
): { readonly table: string; readonly line: number }[] {
  const code = withoutComments(text);
  const found = new Map<string, { table: string; line: number }>();
  const add = (table: string, index: number): void => {
    const line = code.slice(0, index).split('\n').length;
    if (tables.has(table)) found.set(`${table} ${line}`, { table, line });
  };
  for (const pattern of [builder, elsewhere])
    for (const match of code.matchAll(pattern))
      for (const [, table = ''] of match[0].matchAll(name)) add(table, match.index);
  for (const match of code.matchAll(literal)) {
    // A name of several words is unambiguous, wherever it occurs.
    const [, whole = ''] = /^.(\w+_\w+)(?: as \w+)?.$/.exec(match[0]) ?? [];
    add(whole, match.index);
    if (statement.test(match[0]))
      for (const inner of match[0].matchAll(inStatement)) add(inner[1] ?? '', match.index + inner.index);
  }
  return [...found.values()];
}

/** @param files text by path, from the cloud without its tests */
export function checkTables(
  files: ReadonlyMap<string, string>,
  allowed: readonly Exception[] = exceptions,
): { readonly problems: string[]; readonly tables: number } {
  const { owners, problems } = ownersOf(files);
  const tables = new Set(owners.keys());
  const unused = new Map(allowed.map((exception) => [exception, new Set(exception.tables)]));
  for (const [path, text] of files) {
    for (const table of path.endsWith('/store.ts') ? typedIn(text) : [])
      if (owners.get(table) !== featureOf(path))
        problems.push(`${path}: has the type of table ${table}, which its feature does not create`);
    const exception = allowed.find(
      ({ module }) => path === module || (module.endsWith('/') && path.startsWith(module)),
    );
    for (const { table, line } of tablesIn(text, tables)) {
      const owner = owners.get(table);
      if (owner === featureOf(path)) continue;
      if (exception?.tables.includes(table)) unused.get(exception)?.delete(table);
      else problems.push(`${path}:${line}: table ${table} belongs to ${owner}: call a function of its feature`);
    }
  }
  for (const [{ module }, rest] of unused)
    for (const table of rest) problems.push(`${module}: is excepted for table ${table}, and does not name it`);
  return { problems, tables: tables.size };
}

export function main(): void {
  const paths = filesToCheck([app.slice(0, -1)], (path) => isSource(path) && !isTest(path));
  const { problems, tables } = checkTables(new Map(paths.map((path) => [path, read(path)])));
  report('tables', problems, `${tables} tables, ${paths.length} files, ${exceptions.length} exceptions`);
}

if (import.meta.main) main();
