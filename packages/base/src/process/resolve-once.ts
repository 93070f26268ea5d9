/**
 * Makes starts faster: Node resolves every import again, even if it has already resolved it for another module, and looks up files and
 * `package.json` each time. With thousands of imports, that is a third of the processor time that loading takes (ADR-0050).
 */
import { existsSync } from 'node:fs';
import { type RegisterHooksOptions, registerHooks } from 'node:module';

type Resolve = NonNullable<RegisterHooksOptions['resolve']>;
type Resolved = ReturnType<Resolve>;

const packages = '/node_modules/';

/**
 * For entry points of our processes, which import the rest only afterwards. Each imported package is resolved once for each package that
 * imports it, and each file of another author's package once. Relative imports between our files name the file, so nothing is looked up.
 */
export function resolveOnce(): void {
  const known = new Map<string, Resolved>();
  const roots = new Map<string, string>();

  /** The nearest folder with a `package.json`; imports of a package lead to the same files from everywhere below it. */
  const rootOf = (folder: string): string => {
    let root = roots.get(folder);
    if (root === undefined) {
      const parent = folder.slice(0, folder.lastIndexOf('/'));
      const isRoot = parent === 'file://' || existsSync(new URL(`${folder}/package.json`));
      root = isRoot ? folder : rootOf(parent);
      roots.set(folder, root);
    }
    return root;
  };

  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL: parent } = context;
      if (!(parent?.startsWith('file:') && context.conditions.includes('import'))) return next(specifier, context);
      const isRelative = specifier.startsWith('.');
      const url = isRelative ? new URL(specifier, parent).href : '';
      if (isRelative && isOurs(parent)) {
        if (url.endsWith('.ts')) return { url, format: 'module-typescript', shortCircuit: true };
        if (url.endsWith('.js')) return { url, format: 'module', shortCircuit: true };
      }
      const key = isRelative ? url : `${specifier} ${rootOf(parent.slice(0, parent.lastIndexOf('/')))}`;
      const found = known.get(key) ?? { ...next(specifier, context), shortCircuit: true };
      known.set(key, found);
      return found;
    },
  });
}

/** All of our packages are ES modules, and their relative imports name files with their extension. */
function isOurs(url: string): boolean {
  const at = url.lastIndexOf(packages);
  return at === -1 || url.startsWith('@platform/', at + packages.length);
}
