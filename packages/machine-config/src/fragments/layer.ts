import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';
import type { Json, JsonObject } from '../schema.ts';
import type { FragmentOrigin } from './types.ts';

/** A value with the fragment that it came from; undefined means the document itself. */
export interface Piece {
  value: Json;
  readonly origin: FragmentOrigin | undefined;
}

/** A document split into its lists of named entries, and every other key as a whole. */
export interface Layer {
  readonly lists: Map<string, Piece[]>;
  readonly values: Map<string, Piece>;
}

/** The lists whose entries are merged one by one, and the key that contains an entry's name. */
export const listKeys: Readonly<Record<string, string>> = {
  components: 'name',
  services: 'name',
  modules: 'name',
  remotes: 'name',
  processes: 'id',
  packages: 'name',
  jobs: 'name',
  triggers: 'name',
  log: 'pattern',
};

export const emptyLayer = (): Layer => ({ lists: new Map(), values: new Map() });

/** Without `fragments` and `fragment_mods`, which resolving consumes. */
export function layerOf(document: JsonObject, origin: FragmentOrigin | undefined): Layer {
  const layer = emptyLayer();
  for (const [key, value] of Object.entries(document)) {
    if (key === 'fragments' || key === 'fragment_mods') continue;
    if (isListKey(key) && Array.isArray(value))
      layer.lists.set(
        key,
        value.map((item: Json) => ({ value: item, origin })),
      );
    else layer.values.set(key, { value, origin });
  }
  return layer;
}

/** Merges `over` onto `under`: the entries and values of `over` win, and come first. `tell` is called for every replaced entry. */
export function overlay(under: Layer, over: Layer, tell: (message: string) => void): Layer {
  const result: Layer = { lists: new Map(over.lists), values: new Map(over.values) };
  for (const [key, piece] of under.values)
    if (
      !result.lists.has(key) &&
      (!result.values.has(key) || yields(key, result.values.get(key)?.value, piece.value, tell))
    )
      result.values.set(key, piece);
  for (const [key, pieces] of under.lists) {
    // A key with the wrong shape in the upper layer is kept as it is; the schema reports it.
    if (over.values.has(key)) {
      result.values.set(key, over.values.get(key) as Piece);
      continue;
    }
    result.values.delete(key);
    const top = over.lists.get(key) ?? [];
    const names = new Map(top.flatMap((piece) => entryName(key, piece.value, (name) => [[name, piece] as const])));
    const kept = pieces.filter((piece) => {
      const [covering] = entryName(key, piece.value, (name) => {
        const found = names.get(name);
        return found === undefined ? [] : [found];
      });
      if (covering === undefined) return true;
      if (JSON.stringify(covering.value) !== JSON.stringify(piece.value)) tell(coveredText(key, piece, covering));
      return false;
    });
    result.lists.set(key, [...top, ...kept]);
  }
  return result;
}

/** The document of a layer, and the fragment that each of its entries came from. */
export function writeLayer(layer: Layer): { document: JsonObject; origins: ReadonlyMap<string, FragmentOrigin> } {
  const origins = new Map<string, FragmentOrigin>();
  const entries: [string, Json][] = [];
  for (const [key, piece] of layer.values) {
    entries.push([key, piece.value]);
    if (piece.origin !== undefined) origins.set(key, piece.origin);
  }
  for (const [key, pieces] of layer.lists) {
    entries.push([key, pieces.map((piece) => piece.value)]);
    pieces.forEach((piece, index) => {
      if (piece.origin !== undefined) origins.set(`${key}[${index}]`, piece.origin);
    });
  }
  return { document: Object.fromEntries(entries), origins };
}

/** An ignored retention yields to one that is not ignored (D24). */
function yields(key: string, above: Json | undefined, below: Json, tell: (message: string) => void): boolean {
  if (key !== 'data_retention_policy' || isRetention(above) || !isRetention(below)) return false;
  const days = isObject(above) ? above['days'] : above;
  tell(`${key}.days: expected a positive whole number, found ${formatValue(days)}: it is ignored`);
  return true;
}

function isRetention(value: Json | undefined): boolean {
  const days = isObject(value) ? value['days'] : undefined;
  return typeof days === 'number' && Number.isSafeInteger(days) && days > 0;
}

export const isListKey = (key: string): boolean => Object.hasOwn(listKeys, key);

function entryName<T>(key: string, value: Json, then: (name: string) => T[]): T[] {
  const name = isObject(value) ? value[listKeys[key] ?? 'name'] : undefined;
  return typeof name === 'string' ? then(name) : [];
}

function coveredText(key: string, piece: Piece, covering: Piece): string {
  const name = isObject(piece.value) ? String(piece.value[listKeys[key] ?? 'name']) : '';
  const by = covering.origin === undefined ? 'the document itself' : `fragment ${covering.origin.fragmentId}`;
  return `${key} "${name.slice(0, 64)}" of fragment ${piece.origin?.fragmentId ?? ''} is not used: ${by} has one with the same name`;
}
