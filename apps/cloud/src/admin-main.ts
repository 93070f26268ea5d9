/** Entry point of the process that runs one command of `platform admin`. */
import { resolveOnce } from '@platform/base/resolve-once';

resolveOnce();
await import('./run-admin.ts');
