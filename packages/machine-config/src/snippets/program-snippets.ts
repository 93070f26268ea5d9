/**
 * Complete programs that connect to a machine through its cloud, list its resources, read a sensor and disconnect: what
 * `platform machines part snippet` and the web UI print. docs/guides/remote-control.md explains each client.
 */
import { accessOf, type SnippetKey, type SnippetTarget } from './access.ts';
import { browserSnippet } from './browser.ts';
import { curlSnippet } from './curl.ts';
import { goSnippet } from './go.ts';
import { nodeSnippet } from './node.ts';
import { pythonSnippet } from './python.ts';

export type { SnippetKey, SnippetTarget } from './access.ts';

export type SnippetLanguage = 'python' | 'typescript-node' | 'typescript-browser' | 'go' | 'curl';

/** What stands in place of a key that the user has yet to fill in. */
export const placeholderKey: SnippetKey = { id: 'KEY_ID', secret: 'KEY' };

export interface ProgramSnippet {
  readonly language: SnippetLanguage;
  /** For people, such as `TypeScript (Node)`. */
  readonly title: string;
  /** The name under which the program's first lines expect to be saved. */
  readonly file: string;
  /** The whole program. Its first lines say how to install what it needs and how to run it. */
  readonly code: string;
}

const kinds = [
  { language: 'python', title: 'Python', file: 'machine.py', write: pythonSnippet },
  { language: 'typescript-node', title: 'TypeScript (Node)', file: 'machine.mts', write: nodeSnippet },
  { language: 'typescript-browser', title: 'TypeScript (browser)', file: 'machine.html', write: browserSnippet },
  { language: 'go', title: 'Go', file: 'machine.go', write: goSnippet },
  { language: 'curl', title: 'curl', file: 'machine.sh', write: curlSnippet },
] as const;

export const snippetLanguages: readonly SnippetLanguage[] = kinds.map(({ language }) => language);

/** One program for each language. */
export function programSnippets(target: SnippetTarget, key: SnippetKey): readonly ProgramSnippet[] {
  const access = accessOf(target);
  return kinds.map(({ write, ...kind }) => ({ ...kind, code: write(access, key) }));
}
