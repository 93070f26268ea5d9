/**
 * Configurations of parts and fragments, and their histories, are sealed as a whole, because attributes may contain passwords (D6).
 *
 * A Kysely plugin seals and opens them, so features read and write plain JSON. A sealed document is the text `sealed:<id of the instance
 * key>:<base64 of nonce, ciphertext, tag>`, which no JSON object begins with. '' stays '': a document that is no longer kept. Statements
 * in raw SQL see and write the stored form.
 */
import { ownFault } from '@platform/base';
import {
  InsertQueryNode,
  type KyselyPlugin,
  type OperationNode,
  PrimitiveValueListNode,
  type QueryResult,
  type RawBuilder,
  type RootOperationNode,
  sql,
  type UnknownRow,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from 'kysely';
import { fragmentsSealedDocument } from '../fragments/store.ts';
import type { KeyRing } from '../instance/instance-key.ts';
import type { SealedDocument } from '../instance/sealed-column.ts';
import { machinesSealedDocument } from '../machines/store.ts';

export const sealedDocuments: readonly SealedDocument[] = [machinesSealedDocument, fragmentsSealedDocument];

const prefix = 'sealed:';
const columns = new Set(sealedDocuments.map(({ column }) => column));

/** Prefix of every document sealed with a key. */
export function sealOf(keyId: string): string {
  return `${prefix}${keyId}:`;
}

export function sealDocument(ring: KeyRing, text: string): string {
  return sealOf(ring.current.id) + Buffer.from(ring.encrypt(text)).toString('base64');
}

/** Returns the document as it was saved. @param row identifies it in the log. @throws data_loss */
export function openDocument(ring: KeyRing, stored: string, row: string): string {
  if (!stored.startsWith(prefix)) return stored;
  try {
    return ring.decrypt(Buffer.from(stored.slice(stored.indexOf(':', prefix.length) + 1), 'base64'));
  } catch (caught) {
    throw ownFault(
      'data_loss',
      'a stored configuration cannot be decrypted: it is damaged, or encrypted with a different instance key. The host administrator can restore it from a backup',
      row,
      caught,
    );
  }
}

/** Size of a document as it was saved, accurate to three bytes; 0: it is no longer kept. */
export function savedBytes(column: string): RawBuilder<number> {
  const name = sql.ref(column);
  // Base64 of nonce (12 bytes), document and tag (16), after `sealed:`, 16 digits and a colon.
  return sql`case when ${name} like ${`${prefix}%`} then (octet_length(${name}) - 24) * 3 / 4 - 28 else octet_length(${name}) end`;
}

export function sealedDocumentsPlugin(ring: KeyRing): KyselyPlugin {
  return {
    transformQuery: ({ node }) => sealedInsert(node, ring),
    async transformResult({ result }) {
      const [first] = result.rows;
      if (first === undefined || !Object.keys(first).some((name) => columns.has(name))) return result;
      return { ...result, rows: result.rows.map((row) => opened(row, ring)) } satisfies QueryResult<UnknownRow>;
    },
  };
}

function opened(row: UnknownRow, ring: KeyRing): UnknownRow {
  const changes = Object.entries(row).flatMap(([name, value]) =>
    columns.has(name) && typeof value === 'string' ? [[name, openDocument(ring, value, rowText(row))]] : [],
  );
  return changes.length === 0 ? row : { ...row, ...Object.fromEntries(changes) };
}

/** The row's key, as far as the statement has read it. */
function rowText(row: UnknownRow): string {
  const names = sealedDocuments.flatMap(({ key }) => key).filter((name) => row[name] !== undefined);
  return names.map((name) => `${name} ${String(row[name])}`).join(', ');
}

/** Only INSERT writes documents: a version never changes. */
function sealedInsert(node: RootOperationNode, ring: KeyRing): RootOperationNode {
  if (!InsertQueryNode.is(node) || node.values === undefined || !ValuesNode.is(node.values)) return node;
  const table = node.into?.table.identifier.name;
  const document = sealedDocuments.find((one) => one.table === table);
  const at = node.columns?.findIndex(({ column }) => column.name === document?.column) ?? -1;
  if (document === undefined || at < 0) return node;
  const values = node.values.values.map((list) =>
    PrimitiveValueListNode.is(list)
      ? PrimitiveValueListNode.create(list.values.map((value, index) => (index === at ? sealed(value, ring) : value)))
      : ValueListNode.create(list.values.map((value, index) => (index === at ? sealedNode(value, ring) : value))),
  );
  return { ...node, values: ValuesNode.create(values) } as InsertQueryNode;
}

function sealedNode(node: OperationNode, ring: KeyRing): OperationNode {
  return ValueNode.is(node) ? ValueNode.create(sealed(node.value, ring)) : node;
}

function sealed(value: unknown, ring: KeyRing): unknown {
  return typeof value === 'string' && value !== '' ? sealDocument(ring, value) : value;
}
