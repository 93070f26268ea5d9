/** Compares our API with the public one. Pure. */
import type { ApiElements } from './api-elements.ts';

/** A part of the public API that we do not have or that differs, on purpose. */
export interface Omission {
  /** Full name of an element or a package; it covers everything in it, and messages that nothing else uses. */
  readonly name: string;
  readonly reason: string;
}

export interface Drift {
  /** What we lack, with its line; of a message or service only itself. */
  readonly missing: readonly string[];
  /** What both have, but not alike. */
  readonly different: readonly string[];
  /** Our fields and values in public messages and enums whose numbers the public API may use one day. */
  readonly unsafe: readonly string[];
  /** Omissions that cover something. */
  readonly omitted: readonly Omission[];
  /** Omissions that cover nothing of this API, or nothing any more. */
  readonly idle: readonly Omission[];
  /** What only we have; of a message or service only itself. */
  readonly ours: readonly string[];
}

/** Numbers of our own fields in public messages, and of our values in public enums, begin here. */
const firstOwnNumber = 1000;

/** Only what methods of the public API use is compared: a message that no method reaches is never sent. */
export function compare(publicApi: ApiElements, ourApi: ApiElements, omissions: readonly Omission[]): Drift {
  const needed = new Set<Omission>();
  const isOmitted = (name: string): boolean => {
    const by = omissions.find((omission) => name === omission.name || name.startsWith(`${omission.name}.`));
    if (by !== undefined && ourApi.get(name)?.line !== publicApi.get(name)?.line) needed.add(by);
    return by !== undefined;
  };
  const missing: string[] = [];
  const different: string[] = [];
  for (const name of reached(publicApi, isOmitted)) {
    const [line, our] = [publicApi.get(name)?.line, ourApi.get(name)?.line];
    if (our === line) continue;
    if (our !== undefined) different.push(`${name}: public ${line}; ours ${our}`);
    else if (isOutermost(name, publicApi, ourApi)) missing.push(`${name}: ${line}`);
  }
  const own = [...ourApi].filter(([name]) => !publicApi.has(name));
  return {
    missing,
    different,
    unsafe: own.filter(([name, { line }]) => isUnsafe(name, line, publicApi)).map(listed),
    omitted: omissions.filter((omission) => needed.has(omission)),
    idle: omissions.filter((omission) => !needed.has(omission)),
    ours: own.filter(([name]) => isOutermost(name, ourApi, publicApi)).map(listed),
  };
}

const listed = ([name, { line }]: readonly [string, { readonly line: string }]): string => `${name}: ${line}`;

/** The names of the services that are not omitted, and of everything that they use, in the order of the API. */
function reached(api: ApiElements, isOmitted: (name: string) => boolean): readonly string[] {
  const members = Map.groupBy(api.keys(), parentOf);
  const found = new Set<string>();
  const visit = (name: string): void => {
    const element = api.get(name);
    if (element === undefined || found.has(name) || isOmitted(name)) return;
    found.add(name);
    for (const used of element.uses) visit(used);
    for (const member of members.get(name) ?? []) if (!isNestedType(member)) visit(member);
  };
  const isNestedType = (name: string): boolean => /^(message|enum|entry of a map)$/.test(api.get(name)?.line ?? '');
  for (const [name, { line }] of api) if (line === 'service') visit(name);
  return [...api.keys()].filter((name) => found.has(name));
}

const parentOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));

/** Whether the element is not inside another one that the other API lacks, too. */
function isOutermost(name: string, api: ApiElements, other: ApiElements): boolean {
  const parent = parentOf(name);
  return !api.has(parent) || other.has(parent);
}

function isUnsafe(name: string, line: string, publicApi: ApiElements): boolean {
  const number = /= (\d+)$/.exec(line)?.[1];
  return number !== undefined && publicApi.has(parentOf(name)) && Number(number) < firstOwnNumber;
}

export const isClean = ({ missing, different, unsafe }: Drift): boolean =>
  [missing, different, unsafe].every((list) => list.length === 0);
