/** Each mutant gets the same random examples, and the first one that kills it is enough. */
import fc from 'fast-check';

fc.configureGlobal({ seed: 1, endOnFailure: true });
