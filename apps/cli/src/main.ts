/** Entry point of the platform command line. */
import { resolveOnce } from '@platform/base/resolve-once';

resolveOnce();
await import('./run.ts');
