/** The build: one page (`index.html`) and hashed files, which the cloud serves unchanged. */
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { defaultClientConditions, defaultServerConditions, defineConfig, type Plugin } from 'vite';
import { noticesOf } from '../../tools/bundles/notices.ts';

/** Where `npx vite dev` finds a cloud. */
const cloud = process.env['PLATFORM_CLOUD'] ?? 'http://127.0.0.1:8080';

/** SvelteKit hides its announcer with a style attribute, which the content security policy blocks; `app.css` hides it instead. */
const withoutInlineStyle: Plugin = {
  name: 'without-inline-style',
  enforce: 'pre',
  transform: (code, id) =>
    id.endsWith('/runtime/components/root.svelte')
      ? code.replace(/(id="svelte-announcer"[\s\S]*?)style="[^"]*"/, '$1')
      : undefined,
};

/** The licence notices of what the files contain. */
const notices: Plugin = {
  name: 'notices',
  applyToEnvironment: ({ name }) => name === 'client',
  generateBundle(_options, files) {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const used = Object.values(files).flatMap((file) =>
      // Fonts are assets.
      file.type === 'chunk' ? file.moduleIds : file.originalFileNames.map((name) => resolve(root, 'apps/web', name)),
    );
    const inputs = used.filter((id) => id.startsWith(root)).map((id) => relative(root, id.split('?')[0] ?? id));
    const source = noticesOf(inputs);
    this.emitFile({ type: 'asset', fileName: 'licences.txt', source });
  },
};

export default defineConfig({
  plugins: [
    withoutInlineStyle,
    notices,
    tailwindcss(),
    sveltekit({
      adapter: adapter({ fallback: 'index.html' }),
      // A fixed name makes builds reproducible.
      version: { name: '0.1.0' },
      paths: { relative: false },
    }),
  ],
  // Our packages come from their sources, whether or not the type checker has written their modules.
  resolve: { conditions: ['@platform/source', ...defaultClientConditions] },
  // SvelteKit also builds what a server would render, and throws it away.
  ssr: { resolve: { conditions: ['@platform/source', ...defaultServerConditions] } },
  build: { target: 'es2023', assetsInlineLimit: 0, reportCompressedSize: false },
  server: {
    fs: { allow: ['../..'] },
    proxy: Object.fromEntries(
      ['/api', '/sign-in', '/sign-out', '/account', '/platform.', '/proto.'].map((path) => [path, cloud]),
    ),
  },
});
