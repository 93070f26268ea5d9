/**
 * Stack traces of a bundle name the files and lines of the sources. Every bundle imports this first.
 *
 * Node's own `--enable-source-maps` keeps the whole map in memory, which for the cloud is 64 MB.
 */
import { inSources } from './in-sources.ts';

Error.prepareStackTrace = (error, sites) =>
  [String(error), ...inSources(sites.map((site) => `    at ${site}`))].join('\n');
