/** The catalog defines the content of the store: the listed files, S and the deletions. */
import type { Database } from '../../metadata/tables.ts';
import { type CatalogChanges, catalogChanges } from './change-catalog.ts';
import { type FileChoices, fileChoices } from './choose-files.ts';
import { type CatalogReader, catalogReader } from './read-catalog.ts';

export type Catalog = CatalogReader & CatalogChanges & FileChoices;

export function createCatalog(db: Database): Catalog {
  return { ...catalogReader(db), ...catalogChanges(db), ...fileChoices(db) };
}
