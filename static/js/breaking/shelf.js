// The shelf of promises.

import { followLanguage } from "../base/texts.js";

followLanguage();
