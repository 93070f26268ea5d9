/** Where files are downloaded: this, and the file's id. */
export const downloadPath = '/binary-data/';
