/** Opens a document database with the official driver, which is loaded on first use because it takes about 30 MB. */
import { errorText, invalidArgument, permissionDenied, unauthenticated, unavailable, uriDecoded } from '@platform/base';
import { mask } from '@platform/machine-config/mask-secrets';
import type { DocdbSettings, DocumentDatabase, Refusal } from './database.ts';
import type { ReadingDocument } from './documents-of.ts';

type Driver = typeof import('mongodb');

/** Used if the URI does not set them; without them, the driver would wait forever for a server that no longer answers. */
const timeouts = { serverSelectionTimeoutMS: 10_000, connectTimeoutMS: 10_000, socketTimeoutMS: 30_000 };
/** Errors about the document itself: it does not fit the database's limits or rules. */
const ofDocument: ReadonlySet<number> = new Set([
  2, 9, 14, 22, 52, 53, 54, 55, 56, 57, 121, 10334, 16755, 16766, 17280,
]);
const ofEncoding: ReadonlySet<number> = new Set([22, 10334, 17280]);
const duplicateKey = 11_000;
const authenticationFailed: ReadonlySet<number> = new Set([18, 8_000]);
const unauthorized = 13;
/** Not primary, recovering, stepping down, shutting down, unreachable, timed out, over a time limit. */
const passing: ReadonlySet<number> = new Set([
  6, 7, 50, 89, 91, 112, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
]);

export async function openMongodb(settings: DocdbSettings): Promise<DocumentDatabase> {
  const { uri, database, collection } = settings;
  const driver = await import('mongodb');
  const given = uri.toLowerCase();
  const missing = Object.entries(timeouts).filter(([name]) => !given.includes(`${name.toLowerCase()}=`));
  try {
    const client = new driver.MongoClient(uri, {
      ...{ appName: 'machine-server', maxPoolSize: 2, ...Object.fromEntries(missing) },
    });
    const readings = client.db(database).collection<ReadingDocument>(collection);
    const insert = async (documents: readonly ReadingDocument[]): Promise<void> => {
      await readings.insertMany(
        documents.map((each) => withDoubles(driver, each)),
        { ordered: false },
      );
    };
    return {
      insert: (documents) => insertOnce(driver, insert, documents).catch((caught) => fail(driver, caught, settings)),
      [Symbol.asyncDispose]: () => client.close(true),
    };
  } catch (caught) {
    throw invalidArgument(withoutSecrets(errorText(caught), uri));
  }
}

async function insertOnce(
  driver: Driver,
  insert: (documents: readonly ReadingDocument[]) => Promise<void>,
  documents: readonly ReadingDocument[],
): Promise<readonly Refusal[]> {
  try {
    await insert(documents);
    return [];
  } catch (caught) {
    if (!isOfOneDocument(driver, caught)) return refusalsOf(driver, caught);
    // One of them prevented all from being stored.
    const [only, ...more] = documents;
    if (only !== undefined && more.length === 0) return [{ index: 0, reason: errorText(caught), isUnsure: false }];
    const refusals: Refusal[] = [];
    for (const [index, document] of documents.entries())
      for (const refusal of await insertOnce(driver, insert, [document])) refusals.push({ ...refusal, index });
    return refusals;
  }
}

/** Whether the whole call failed because one of its documents is too large or cannot be encoded, as the driver or the server found. */
function isOfOneDocument(driver: Driver, caught: unknown): boolean {
  if (caught instanceof driver.MongoBulkWriteError)
    return [caught.writeErrors].flat().length === 0 && ofEncoding.has(Number(caught.code));
  return caught instanceof driver.MongoInvalidArgumentError || caught instanceof driver.BSON.BSONError;
}

/** @throws the error, if it is not about single documents */
function refusalsOf(driver: Driver, caught: unknown): Refusal[] {
  if (!(caught instanceof driver.MongoBulkWriteError)) throw caught;
  const errors = [caught.writeErrors].flat();
  const isAboutDocuments = errors.length > 0 && !errors.some(({ code }) => passing.has(code));
  if (!isAboutDocuments || caught.result.getWriteConcernError() !== undefined) throw caught;
  return errors
    .filter(({ code }) => code !== duplicateKey)
    .map(({ index, code, errmsg }) => ({
      ...{ index, reason: `${errmsg ?? 'no reason'} (${code})`, isUnsure: !ofDocument.has(code) },
    }));
}

function fail(driver: Driver, caught: unknown, { uri }: DocdbSettings): never {
  const code = caught instanceof driver.MongoServerError ? Number(caught.code) : undefined;
  const text = withoutSecrets(errorText(caught), uri);
  if (code !== undefined && authenticationFailed.has(code)) throw unauthenticated(text);
  if (code === unauthorized) throw permissionDenied(text);
  throw unavailable(text);
}

/** Hides the URI and its secrets, which the driver's messages may quote. */
function withoutSecrets(text: string, uri: string): string {
  const [, user = '', password = ''] = /^[^/]*\/\/([^:@/]*)(?::([^@/]*))?@/.exec(uri) ?? [];
  const secrets = [uri, password, uriDecoded(password), user, uriDecoded(user)].filter((each) => each.length > 2);
  return secrets.reduce((hidden, secret) => hidden.replaceAll(secret, mask), text);
}

/** Numbers are stored as doubles, as on the wire. BSON has no names with a NUL. */
function withDoubles(driver: Driver, document: ReadingDocument): ReadingDocument {
  const convert = (value: unknown): unknown => {
    if (typeof value === 'number') return new driver.Double(value);
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key.replaceAll('\0', '\u2400'), convert(item)]),
    );
  };
  return convert(document) as ReadingDocument;
}
