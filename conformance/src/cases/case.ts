/** One case of a case file, as parsed by the runner. */

import type { BsonDocument } from '@platform/query';
import { decodeDocument } from './extended-json/decode.ts';
import { type Json, type JsonObject, readJson } from './extended-json/read-json.ts';

/** The expected outcome: documents, or a refusal. */
export type Expectation =
  | { readonly k: 'documents'; readonly documents: readonly BsonDocument[] }
  /** MongoDB's numeric code. */
  | { readonly k: 'code'; readonly code: number }
  /** Any refusal; the text is from another implementation. */
  | { readonly k: 'refusal'; readonly text: string }
  /** Another statement with the same meaning; there is no data. */
  | { readonly k: 'rewrite'; readonly sql: string };

interface CommonCase {
  readonly name: string;
  readonly source: string;
  readonly msg: string;
  readonly group: string;
  readonly expected: Expectation;
  readonly ordered: boolean;
}

export interface MqlCase extends CommonCase {
  readonly k: 'mql';
  readonly docs: readonly BsonDocument[];
  readonly pipeline: readonly BsonDocument[];
  /** Stage names in order. */
  readonly stages: readonly string[];
  /** Absent: derived from the stages. */
  readonly in22: boolean | undefined;
  readonly generatedIds: boolean;
  readonly ignoreOrderIn: readonly string[];
  /** Names of the options that the pipeline was run with. */
  readonly options: readonly string[];
}

export interface SqlCase extends CommonCase {
  readonly k: 'sql';
  readonly sql: string;
  readonly currentDatabase: string;
  /** Database → collection → documents. */
  readonly databases: ReadonlyMap<string, ReadonlyMap<string, readonly BsonDocument[]>>;
  /** Database → collection → JSON schema. */
  readonly schemas: JsonObject;
  readonly excludeNamespaces: boolean;
  readonly typesOnly: boolean;
  /** Column names of flat rows; then `expected` contains rows with these columns. */
  readonly columns: readonly string[] | undefined;
}

export type Case = MqlCase | SqlCase;

/** @param line one line of a case file. @throws Error if it is not a case. */
export function readCase(line: string): Case {
  const json = readJson(line);
  if (!(json instanceof Map)) throw new Error('a case must be a JSON object');
  return json.has('sql') ? sqlCase(json) : mqlCase(json);
}

function mqlCase(json: JsonObject): MqlCase {
  const pipeline = documents(json.get('pipeline'));
  return {
    k: 'mql',
    ...commonPart(json, expectation(json)),
    docs: documents(json.get('docs')),
    pipeline,
    stages: pipeline.map((stage) => [...stage.keys()][0] ?? ''),
    in22: json.has('in22') ? json.get('in22') === true : undefined,
    generatedIds: json.get('genid') === true,
    ignoreOrderIn: texts(json.get('ignore_order_in')),
    options: [...object(json.get('options')).keys()],
  };
}

function sqlCase(json: JsonObject): SqlCase {
  const columns = json.has('columns') ? texts(json.get('columns')) : undefined;
  const databases = [...object(json.get('databases'))].map(
    ([name, held]) => [name, new Map([...object(held)].map(([each, docs]) => [each, documents(docs)]))] as const,
  );
  return {
    k: 'sql',
    ...commonPart(json, columns === undefined ? expectation(json) : rows(json.get('expected_rows'), columns)),
    sql: String(json.get('sql')),
    currentDatabase: String(json.get('current_db')),
    databases: new Map(databases),
    schemas: object(json.get('schemas')),
    excludeNamespaces: json.get('exclude_namespaces') === true,
    typesOnly: json.get('type_compare') === true,
    columns,
  };
}

function commonPart(json: JsonObject, expected: Expectation): CommonCase {
  const text = (name: string): string => (json.has(name) ? String(json.get(name)) : '');
  return {
    name: text('name'),
    source: text('source'),
    msg: text('msg'),
    group: text('group'),
    expected,
    ordered: json.get('ordered') === true,
  };
}

function expectation(json: JsonObject): Expectation {
  const error = json.get('error');
  const expected = json.get('expected');
  if (typeof expected === 'string') return { k: 'rewrite', sql: expected };
  if (!(error instanceof Map)) return { k: 'documents', documents: documents(expected) };
  const code = error.get('code');
  if (code instanceof Map || typeof code === 'number') return { k: 'code', code: plainNumber(code) };
  return { k: 'refusal', text: String([...error.values()][0]) };
}

function rows(json: Json | undefined, columns: readonly string[]): Expectation {
  if (!Array.isArray(json)) throw new Error('expected_rows must be a list');
  const found = json.map((row) => {
    if (!Array.isArray(row)) return decodeDocument(object(row));
    return decodeDocument(new Map(columns.map((name, index) => [name, row[index] ?? null])));
  });
  return { k: 'documents', documents: found };
}

function plainNumber(json: Json): number {
  return Number(json instanceof Map ? [...json.values()][0] : json);
}

function documents(json: Json | undefined): BsonDocument[] {
  if (!Array.isArray(json)) throw new Error('a list of documents is missing');
  return json.map((each) => decodeDocument(object(each)));
}

function object(json: Json | undefined): JsonObject {
  return json instanceof Map ? json : new Map();
}

function texts(json: Json | undefined): string[] {
  return Array.isArray(json) ? json.map(String) : [];
}
