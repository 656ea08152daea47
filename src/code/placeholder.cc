namespace cordon::code {}
