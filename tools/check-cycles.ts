/**
 * Checks that imports form no cycle. With runtime imports, the order of initialization would depend on which file was imported first; with
 * type imports, no file of the cycle can be read or moved without the others. Only in the cloud, where parts of a feature take types
 * from the file that composes them, type imports may form cycles.
 */
import { importedFiles } from './imports.ts';
import { filesToCheck, isSource, read, report } from './repository.ts';

/** Each cycle once, as its files in order of import, beginning with the least. @param graph the imports of each file */
export function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const own = index.size;
    index.set(file, own);
    let least = own;
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) least = Math.min(least, visit(next));
      else if (stack.includes(next)) least = Math.min(least, index.get(next) ?? own);
    }
    low.set(file, least);
    if (least === own) {
      const members = stack.splice(stack.indexOf(file));
      const isCircle = members.length > 1 || (graph.get(file) ?? []).includes(file);
      if (isCircle) found.push(members.toSorted());
    }
    return least;
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return found;
}

/**
 * The imports of a file that count, within the same workspace: between workspaces the table in check-layers.ts allows no cycle.
 * @param path relative to the root
 */
export function countedImports(path: string, text: string): string[] {
  return importedFiles(path, text, !path.startsWith('apps/cloud/'));
}

export function main(): void {
  const files = filesToCheck(['apps', 'packages', 'tools', 'bench', 'conformance'], isSource);
  const graph = new Map(files.map((path) => [path, countedImports(path, read(path))]));
  report(
    'cycles',
    circles(graph).map((members) => `import circle: ${members.join(' → ')}`),
    `${files.length} files`,
  );
}

if (import.meta.main) main();
