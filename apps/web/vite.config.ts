/** The build: one page (`index.html`) and hashed files, which the cloud serves unchanged. */
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';
import { noticesOf } from '../../tools/bundles/notices.ts';

/** Where `npx vite dev` finds a cloud. */
const cloud = process.env['PLATFORM_CLOUD'] ?? 'http://127.0.0.1:8080';
const machineConfig = fileURLToPath(new URL('../../packages/machine-config/src', import.meta.url));
// biome-ignore lint/suspicious/noTemplateCurlyInString: a capture group in the bundler's syntax
const group = '${1}';
const base = fileURLToPath(new URL('../../packages/base/src', import.meta.url));
const generated = fileURLToPath(new URL('../../packages/proto/src/gen', import.meta.url));

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
  resolve: {
    alias: [
      { find: /^@platform\/proto\/(.+)$/, replacement: `${generated}/${group}_pb.ts` },
      {
        find: /^@platform\/machine-config\/(schema|capture-methods|first-configuration)$/,
        replacement: `${machineConfig}/${group}.ts`,
      },
      { find: '@platform/base/zap-field', replacement: `${base}/zap-field.ts` },
    ],
  },
  build: { target: 'es2023', assetsInlineLimit: 0, reportCompressedSize: false },
  server: {
    fs: { allow: ['../..'] },
    proxy: Object.fromEntries(
      ['/api', '/sign-in', '/sign-out', '/account', '/platform.', '/proto.'].map((path) => [path, cloud]),
    ),
  },
});
